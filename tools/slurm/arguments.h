/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Reads the plugin's arguments in plugstack.conf. All functions are pure. */
#ifndef NVDEBUG_SLURM_ARGUMENTS_H
#define NVDEBUG_SLURM_ARGUMENTS_H

#include "service.h"

struct arguments {
	struct service service;
	const char *nvtaskset;
	/* a job starts also without nvqos, with a warning */
	bool best_effort;
	/* a step that gets no GPU from Slurm has a goal on all GPUs */
	bool all_gpus;
	/* what steps asked and got goes to slurmctld */
	bool account;
	/* shards of each GPU; 0: shards are not turned into shares */
	unsigned long shards;
	/* the file of job_limit.h; NULL: there is none */
	const char *limits;
	/* the options that users may give */
	bool allowed[OPTIONS];
};

/* Returns false, with a sentence, if users may not give the option. */
bool arguments_allow(const struct arguments *arguments, enum option option,
		     char sentence[static SENTENCE_SIZE]);

/* Returns false, with a sentence, if an argument makes no sense. */
bool arguments_read(struct arguments *arguments, int count, char *words[],
		    char sentence[static SENTENCE_SIZE]);

#endif
