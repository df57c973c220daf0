/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A hold is a goal that nvqos keeps for a step. It begins before the step's
 * tasks become their programs, and ends with the last task.
 *
 * A batch script, and the steps that it starts on its node with the same goal,
 * are one hold, so that they have one share together. The script's slurmstepd
 * leaves a file beside nvqos' socket for these steps. Only root may write
 * there.
 *
 * A hold of a job with tasks on several nodes has the same name on all of them,
 * because windows by the clock go by names. No node knows whether a step has a
 * part in a script's hold on another node, so the name has the job and the
 * goal: "job:17.share:30". Steps with the same goal join it (nvqos' "join"), and
 * it ends with the last of them.
 */
#ifndef NVDEBUG_SLURM_HOLD_H
#define NVDEBUG_SLURM_HOLD_H

#include <limits.h>

#include "service.h"
#include "step.h"

#define GOAL_SIZE 160
#define LINE_SIZE 4096
/* Bytes of the longest name that nvqos takes. */
#define HOLD_NAME_SIZE 129

struct hold {
	char name[HOLD_NAME_SIZE];
	char step[STEP_NAME_SIZE]; /* the step that made it, "job:17.0" */
	char goal[GOAL_SIZE]; /* asked_goal() */
	struct gpus gpus;
	pid_t holder; /* nvqos ends the hold with this process, a slurmstepd */
	bool inherited; /* the hold belongs to the job's batch script */
	/* the goal of the script, if it is not this step's goal; empty: none */
	char beside[GOAL_SIZE];
	bool is_joined; /* the goal has GANG_NODES */
	bool held;
	bool published;
	char file[PATH_MAX]; /* the file for steps of the job; empty: none */
};

/*
 * Called in slurmstepd. Makes the hold of the step. If the job's batch script
 * has a hold with the same goal, or any is true, the script's hold is taken
 * instead.
 */
void hold_prepare(struct hold *hold, const struct step *step, const char *goal,
		  bool any, const struct service *service);

/*
 * Makes a joined hold the hold of the step alone, without tasks on other nodes.
 */
void hold_leave_nodes(struct hold *hold);

/* Returns whether the process runs the same program as this one, slurmstepd. */
bool is_stepd(pid_t pid);

/* Writes the request for a task. Returns false if it is too long. */
bool hold_line(const struct hold *hold, pid_t task, char line[static LINE_SIZE]);

/*
 * Called once nvqos has granted the hold. If the step is a batch script, it
 * writes the file, so that later steps of the job find the hold. If the file
 * cannot be written, each step has a hold of its own.
 */
void hold_publish(struct hold *hold, const struct step *step);

/* Called before the hold is released: removes the file. */
void hold_withdraw(struct hold *hold);

#endif
