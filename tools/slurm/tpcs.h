/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * TPCs for a task: nvtaskset(1) chooses them, as the task's user and in the
 * task's environment and cgroup, and the task takes over what CUDA's library
 * then finds them by: variables, and the page of memory that is a descriptor.
 */
#ifndef NVDEBUG_SLURM_TPCS_H
#define NVDEBUG_SLURM_TPCS_H

#include <slurm/spank.h>

#include "options.h"

/*
 * In the process that will be the task's program, as the job's user. Takes the
 * value of --gpu-tpcs and the path of nvtaskset. nvtaskset's own sentences are
 * on the process' stderr. Returns false, with a sentence, if the task cannot be
 * kept to so many.
 */
bool tpcs_take(spank_t spank, const char *value, const char *nvtaskset,
	       char sentence[static SENTENCE_SIZE]);

#endif
