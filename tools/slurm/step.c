// SPDX-License-Identifier: MIT OR GPL-2.0
#include "step.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <slurm/slurm.h>

static bool step_id(spank_t spank, uint32_t *id)
{
	return spank_get_item(spank, S_JOB_STEPID, id) == ESPANK_SUCCESS;
}

bool step_is_extern(spank_t spank)
{
	uint32_t id;

	return step_id(spank, &id) && id == SLURM_EXTERN_CONT;
}

/*
 * Returns whether the text is a number, or the UUID of a GPU or of a part of
 * one.
 */
static bool is_gpu(const char *text)
{
	bool number = *text != 0;

	for (const char *at = text; *at; at++)
		number &= isdigit((unsigned char)*at) != 0;
	if (number)
		return true;
	if (strncmp(text, "GPU-", 4) != 0 && strncmp(text, "MIG-", 4) != 0)
		return false;
	for (const char *at = text; *at; at++)
		if (!isalnum((unsigned char)*at) && *at != '-')
			return false;
	return true;
}

/* Adds all GPUs of the list, or none if a word of it is no GPU. */
static void add_gpus(struct gpus *gpus, char *list)
{
	char *rest = NULL;

	gpus->count = 0;
	for (char *word = strtok_r(list, ",", &rest); word;
	     word = strtok_r(NULL, ",", &rest)) {
		if (!is_gpu(word) || strlen(word) >= GPU_NAME_SIZE ||
		    gpus->count == GPUS_MOST) {
			gpus->count = 0;
			return;
		}
		strcpy(gpus->name[gpus->count++], word);
	}
}

/*
 * Replaces Slurm's numbers by device files. The numbers are those of the device
 * files in gres.conf, /dev/nvidiaN, which may differ from nvidia-smi's.
 */
static void name_files(struct gpus *gpus)
{
	char number[GPU_NAME_SIZE];

	for (size_t at = 0; at < gpus->count; at++) {
		if (!isdigit((unsigned char)gpus->name[at][0]) ||
		    strlen(gpus->name[at]) > GPU_NUMBER_MOST)
			continue;
		strcpy(number, gpus->name[at]);
		snprintf(gpus->name[at], GPU_NAME_SIZE, "/dev/nvidia%.*s",
			 GPU_NUMBER_MOST, number);
	}
}

static bool are_uuids(const struct gpus *gpus)
{
	for (size_t at = 0; at < gpus->count; at++)
		if (strncmp(gpus->name[at], "GPU-", 4) != 0)
			return false;
	return gpus->count != 0;
}

/*
 * Reads the GPUs of the step from the variables that Slurm sets.
 *
 * SLURM_JOB_GPUS has the GPUs of a batch script, and SLURM_STEP_GPUS those of
 * any other step. Slurm sets or removes only that variable; the other one may
 * be set by the user.
 *
 * If Slurm gives GPUs, it also sets CUDA_VISIBLE_DEVICES. Before Slurm 25.11 it
 * has numbers, which begin with 0 for each job if cgroups constrain devices.
 * From 25.11 on it has UUIDs, which need no device files. MIG instances have
 * UUIDs there in all versions, and numbers of their own in the other variable.
 */
static void read_gpus(spank_t spank, uint32_t id, struct step *step)
{
	const char *variable = id == SLURM_BATCH_SCRIPT ? "SLURM_JOB_GPUS" :
							  "SLURM_STEP_GPUS";
	char list[GPUS_MOST * GPU_NAME_SIZE], visible[sizeof(list)];
	struct gpus uuids;

	if (spank_getenv(spank, variable, list, sizeof(list)) !=
	    ESPANK_SUCCESS)
		return;
	add_gpus(&step->gpus, list);
	if (spank_getenv(spank, "CUDA_VISIBLE_DEVICES", visible,
			 sizeof(visible)) == ESPANK_SUCCESS) {
		step->has_mig = strncmp(visible, "MIG-", 4) == 0;
		add_gpus(&uuids, visible);
		if (uuids.count == step->gpus.count && are_uuids(&uuids))
			step->gpus = uuids;
	}
	name_files(&step->gpus);
}

/*
 * Returns the number of nodes of a step, or of the job of a script; 1: not
 * known. Slurm 22.05 has a step's number in S_JOB_NNODES, and 0 for a script.
 */
static uint32_t step_nodes(spank_t spank, bool is_script)
{
	uint32_t nodes = 0;
	char text[16];

	if (is_script)
		return spank_getenv(spank, "SLURM_JOB_NUM_NODES", text,
				    sizeof(text)) == ESPANK_SUCCESS ?
			       (uint32_t)strtoul(text, NULL, 10) :
			       1;
	return spank_get_item(spank, S_JOB_NNODES, &nodes) == ESPANK_SUCCESS ?
		       nodes :
		       1;
}

bool step_read(spank_t spank, struct step *step)
{
	uint32_t id;

	memset(step, 0, sizeof(*step));
	if (spank_get_item(spank, S_JOB_ID, &step->job) != ESPANK_SUCCESS ||
	    !step_id(spank, &id))
		return false;
	step->is_script =
		id == SLURM_BATCH_SCRIPT || id == SLURM_INTERACTIVE_STEP;
	if (id == SLURM_BATCH_SCRIPT)
		snprintf(step->name, sizeof(step->name), "job:%u.batch",
			 step->job);
	else if (id == SLURM_INTERACTIVE_STEP)
		snprintf(step->name, sizeof(step->name), "job:%u.interactive",
			 step->job);
	else
		snprintf(step->name, sizeof(step->name), "job:%u.%u",
			 step->job, id);
	step->nodes = step_nodes(spank, step->is_script);
	read_gpus(spank, id, step);
	return true;
}

unsigned long step_shards(spank_t spank)
{
	char text[16], *end;
	unsigned long shards;
	const int found = spank_getenv(spank, "SLURM_SHARDS_ON_NODE", text,
				       sizeof(text));

	switch (found) {
	case ESPANK_SUCCESS:
		shards = strtoul(text, &end, 10);
		return isdigit((unsigned char)*text) && !*end ? shards :
								ULONG_MAX;
	case ESPANK_ENV_NOEXIST:
		return 0;
	default:
		return ULONG_MAX;
	}
}

/* Cuts a path after the folder "step_…" within a folder "job_…". */
static char *within_step(char *path)
{
	char *job = strstr(path, "/job_"), *step;

	step = job ? strstr(job, "/step_") : NULL;
	if (!step)
		return NULL;
	step[1 + strcspn(step + 1, "/\n")] = 0;
	return path;
}

bool step_cgroup(pid_t pid, char *path, size_t size)
{
	char name[32], line[512];
	bool found = false;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/cgroup", pid);
	file = fopen(name, "re");
	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file)) {
		char *at = strchr(line, ':');
		char *cgroup = at ? strchr(at + 1, ':') : NULL;

		if (!cgroup || !within_step(cgroup + 1) ||
		    strpbrk(cgroup + 1, " \t") || strlen(cgroup + 1) >= size)
			continue;
		strcpy(path, cgroup + 1);
		found = true;
	}
	fclose(file);
	return found;
}
