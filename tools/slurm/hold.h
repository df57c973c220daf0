/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A goal that nvqos keeps for a step: from before its tasks become their
 * programs until its last one has ended. A batch script and the steps that it
 * starts with the same goal on its node are one hold, and so have one share:
 * the script's slurmstepd leaves a file beside nvqos' socket, which only root
 * may write.
 */
#ifndef NVDEBUG_SLURM_HOLD_H
#define NVDEBUG_SLURM_HOLD_H

#include <limits.h>

#include "service.h"
#include "step.h"

#define GOAL_SIZE 160
#define LINE_SIZE 4096

struct hold {
	char name[STEP_NAME_SIZE];
	char goal[GOAL_SIZE];
	struct gpus gpus;
	pid_t holder;	/* the slurmstepd with which it ends */
	bool inherited; /* it is that of the job's batch script */
	/* the goal of the script where it is another one; empty: there is none */
	char beside[GOAL_SIZE];
	bool held;
	bool published;
	char file[PATH_MAX]; /* for steps of the job; empty: there is none */
};

/*
 * In slurmstepd: makes the hold of the step, or takes that of the job's batch
 * script if it has the same goal, or, with any, whatever goal it has.
 */
void hold_prepare(struct hold *hold, const struct step *step, const char *goal,
		  bool any, const struct service *service);

/* The request for a task; false: it is too long. */
bool hold_line(const struct hold *hold, pid_t task, char line[static LINE_SIZE]);

/*
 * Once nvqos has granted it: later steps of the job find it, if it is a batch
 * script's. Where the file cannot be written each step has a hold of its own.
 */
void hold_publish(struct hold *hold, const struct step *step);

/* Before it is released. */
void hold_withdraw(struct hold *hold);

#endif
