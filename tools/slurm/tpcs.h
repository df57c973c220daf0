/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Gives a task TPCs of its own. nvtaskset(1) chooses them, as the task's user
 * and in the task's environment and cgroup. Then the task takes over the things
 * by which CUDA's library finds the TPCs: environment variables, and a page of
 * memory that is a descriptor.
 */
#ifndef NVDEBUG_SLURM_TPCS_H
#define NVDEBUG_SLURM_TPCS_H

#include <slurm/spank.h>

#include "options.h"

/*
 * Called as the job's user, in the process that becomes the task's program. It
 * takes the value of --gpu-tpcs and the path of nvtaskset. nvtaskset prints its
 * own sentences on the process' stderr. Returns false, with a sentence, if the
 * task cannot be kept to so many TPCs.
 */
bool tpcs_take(spank_t spank, const char *value, const char *nvtaskset,
	       char sentence[static SENTENCE_SIZE]);

#endif
