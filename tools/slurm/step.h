/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* What a step of a job has on this node, as slurmstepd has it. */
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
	bool is_script; /* of a batch job, or an allocation's shell */
	struct gpus gpus;
	bool has_mig; /* they are parts of GPUs, which have no goals */
};

/* Returns false if Slurm does not give its number. */
bool step_read(spank_t spank, struct step *step);

/* Is it the step that only holds a job's resources, and has no task? */
bool step_is_extern(spank_t spank);

/* Slurm's shards of the step on this node; 0: it has none; ULONG_MAX: unclear. */
unsigned long step_shards(spank_t spank);

/*
 * The cgroup of the step of which the process is a task, from the root of its
 * hierarchy. Returns false if the process is in none that is a step's.
 */
bool step_cgroup(pid_t pid, char *path, size_t size);

#endif
