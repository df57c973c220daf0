/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Accounts: a line for each GPU of a step, with what it asked for and what it
 * got. slurmctld takes no text for a job that was killed, and a job's nodes
 * would overwrite each other's text. So each node has the lines of its own steps
 * in a field of its own, Extra, in slurmctld. A program on the controller
 * (account-job) reads them at the job's end.
 *
 * The node has the same lines in a file beside nvqos' socket. A line is there
 * from the step's begin on, so that a step whose slurmstepd was killed has one,
 * too. Lines of ended steps stay for ACCOUNT_KEPT_S.
 */
#ifndef NVDEBUG_SLURM_ACCOUNT_H
#define NVDEBUG_SLURM_ACCOUNT_H

#include <time.h>

#include "hold.h"

#define ACCOUNT_KEPT_S 900
/* The controller gets so many bytes of a node; the oldest lines go first. */
#define ACCOUNT_SIZE 16384

/*
 * Called in slurmstepd. Writes the step's lines and sends the node's lines to
 * slurmctld.
 *
 * @began: when the step began; the runs of a requeued job differ by it
 * @entries: nvqos' answer to "report NAME words", without "ok"; NULL: nothing is
 *	known of what the step got
 * @has_ended: the step has ended, and these are its last lines
 *
 * Failures are in slurmd's log, and the step goes on.
 */
void account_write(const struct hold *hold, const struct service *service,
		   time_t began, const char *entries, bool has_ended);

#endif
