/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What slurmstepd decides of each task before the task becomes its program.
 * They are two processes, and share memory that the first one makes before it
 * forks the other.
 */
#ifndef NVDEBUG_SLURM_VERDICT_H
#define NVDEBUG_SLURM_VERDICT_H

#include <semaphore.h>
#include <stdatomic.h>

#include "options.h"

struct verdict {
	sem_t given;
	bool granted;
	/* for the user: why not, or a warning */
	char sentence[SENTENCE_SIZE];
};

struct verdicts {
	size_t tasks;
	size_t bytes;
	atomic_flag printed; /* a sentence, by a task of the step */
	struct verdict task[];
};

/* Memory for all tasks of a step; NULL: errno. */
struct verdicts *verdicts_make(size_t tasks);

/* By slurmstepd; once for each task. */
void verdict_give(struct verdict *verdict, bool granted, const char *sentence);

/* By the task. Returns false if none is given within the time. */
bool verdict_wait(struct verdict *verdict, int timeout_ms);

#endif
