/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Asks slurmctld for a job's account, partition, QOS and user. */
#ifndef NVDEBUG_SLURM_IDENTITY_H
#define NVDEBUG_SLURM_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#define IDENTITY_SIZE 128

/* A job as slurmctld has it; "": it has none. */
struct identity {
	char account[IDENTITY_SIZE], partition[IDENTITY_SIZE],
		qos[IDENTITY_SIZE], user[IDENTITY_SIZE];
	unsigned int uid; /* a condition may have it instead of the name */
};

/*
 * Called in slurmstepd. slurmctld is asked because the user may have changed the
 * variables that have the same. Returns false if it does not answer.
 */
bool identity_ask(uint32_t job, struct identity *identity);

#endif
