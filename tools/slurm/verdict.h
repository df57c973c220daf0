/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The verdict on each task: whether the task may become its program. slurmstepd
 * decides, and the task waits. They are two processes, and share memory that
 * slurmstepd makes before it forks the task.
 */
#ifndef NVDEBUG_SLURM_VERDICT_H
#define NVDEBUG_SLURM_VERDICT_H

#include <semaphore.h>
#include <stdatomic.h>

#include "options.h"

struct verdict {
	sem_t given;
	bool granted;
	/* a sentence for the user: the reason for a refusal, or a warning */
	char sentence[SENTENCE_SIZE];
};

struct verdicts {
	size_t tasks;
	size_t bytes;
	atomic_flag printed; /* a task of the step has printed a sentence */
	struct verdict task[];
};

/* Makes the memory for all tasks of a step; NULL: errno. */
struct verdicts *verdicts_make(size_t tasks);

/* Called by slurmstepd, once for each task. */
void verdict_give(struct verdict *verdict, bool granted, const char *sentence);

/*
 * Called by the task. Returns false if no verdict is given within @timeout_ms.
 */
bool verdict_wait(struct verdict *verdict, int timeout_ms);

#endif
