/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Reads from slurmstepd the resources of a step of a job on this node. */
#ifndef NVDEBUG_SLURM_STEP_H
#define NVDEBUG_SLURM_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <slurm/spank.h>

#define GPUS_MOST 32
#define GPU_NAME_SIZE 48
#define GPU_NUMBER_MOST 6
#define STEP_NAME_SIZE 48

struct gpus {
	size_t count;
	/* A device file, "/dev/nvidia0", or a UUID. */
	char name[GPUS_MOST][GPU_NAME_SIZE];
};

struct step {
	char name[STEP_NAME_SIZE]; /* "job:17.0", "job:17.batch" */
	uint32_t job;
	/* The script of a batch job, or the shell of an allocation. */
	bool is_script;
	uint32_t nodes; /* of the step, or of the job of a script */
	struct gpus gpus;
	bool has_mig; /* the GPUs are parts of GPUs, which cannot have goals */
};

/* Reads the step. Returns false if Slurm does not give its number. */
bool step_read(spank_t spank, struct step *step);

/* Returns whether the step only holds a job's resources and has no task. */
bool step_is_extern(spank_t spank);

/*
 * Returns the number of Slurm's shards that the step has on this node; 0: none;
 * ULONG_MAX: unclear.
 */
unsigned long step_shards(spank_t spank);

/*
 * Writes the path of the cgroup of the task's step, from the root of its
 * hierarchy. Returns false if the process is in no cgroup of a step.
 */
bool step_cgroup(pid_t pid, char *path, size_t size);

#endif
