/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Limits of jobs by account, partition, QOS and user: a file, in which the first
 * line that fits a job decides.
 *
 *	account=students             share=25% allow=share,cap
 *	partition=debug qos=normal   share=50%
 *	user=alice
 *	                             share=30%
 *
 * A line fits if all of its conditions do; one without conditions fits all jobs.
 * A job that no line fits has no limit. job_submit.lua (docs/examples/slurm)
 * reads the same file. All functions are pure.
 */
#ifndef NVDEBUG_SLURM_JOB_LIMIT_H
#define NVDEBUG_SLURM_JOB_LIMIT_H

#include <stdio.h>

#include "identity.h"
#include "options.h"

#define CONDITIONS_SIZE 256

struct limit {
	bool has_share, has_options;
	char share[VALUE_SIZE]; /* the largest share and cap, "25%" */
	bool allowed[OPTIONS];
	char conditions[CONDITIONS_SIZE]; /* for sentences: "account=students" */
	unsigned int line;
};

/*
 * Reads the limit of a job. Without a line that fits, the limit has neither a
 * share nor options. Returns false, with a sentence, if the file has a line that
 * makes no sense, also behind the one that fits, or cannot be read to its end.
 */
bool limit_read(FILE *file, const char *path, const struct identity *identity,
		struct limit *limit, char sentence[static SENTENCE_SIZE]);

/*
 * Limits the job's goal. A goal with neither share nor cap gets the largest
 * share as its cap. Returns false, with a sentence, if the options ask for more,
 * or for something that has no bound.
 */
bool limit_fit(const struct limit *limit, const char *path, struct asked *asked,
	       size_t tasks, char sentence[static SENTENCE_SIZE]);

#endif
