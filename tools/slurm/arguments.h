/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* What plugstack.conf gives the plugin. Pure functions. */
#ifndef NVDEBUG_SLURM_ARGUMENTS_H
#define NVDEBUG_SLURM_ARGUMENTS_H

#include "service.h"

struct arguments {
	struct service service;
	const char *nvtaskset;
	/* without nvqos a job starts all the same, with a warning */
	bool best_effort;
	/* a step without GPUs of Slurm's has a goal on all of the node's */
	bool all_gpus;
	/* of each GPU; 0: shards are not turned into shares */
	unsigned long shards;
	/* the options that users may have */
	bool allowed[OPTIONS];
};

/* Returns false, with a sentence, if users may not have the option. */
bool arguments_allow(const struct arguments *arguments, enum option option,
		     char sentence[static SENTENCE_SIZE]);

/* Returns false, with a sentence, if an argument makes no sense. */
bool arguments_read(struct arguments *arguments, int count, char *words[],
		    char sentence[static SENTENCE_SIZE]);

#endif
