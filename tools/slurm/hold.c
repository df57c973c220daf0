// SPDX-License-Identifier: MIT OR GPL-2.0
#define _GNU_SOURCE
#include "hold.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <slurm/spank.h>

#include "options.h"

/*
 * Writes the path of the job's file beside the socket. Returns false if it is
 * too long.
 */
static bool file_name(char path[static PATH_MAX], const char *socket,
		      uint32_t job)
{
	const char *end = strrchr(socket, '/');

	return snprintf(path, PATH_MAX, "%.*s/slurm-job-%u",
			(int)(end - socket), socket, job) < PATH_MAX;
}

bool is_stepd(pid_t pid)
{
	char name[32], one[PATH_MAX], other[PATH_MAX];
	ssize_t length, own;

	snprintf(name, sizeof(name), "/proc/%d/exe", pid);
	length = readlink(name, one, sizeof(one));
	own = readlink("/proc/self/exe", other, sizeof(other));
	return length > 0 && length == own &&
	       memcmp(one, other, (size_t)length) == 0;
}

/*
 * Returns the start of the process, in ticks since boot (field 22 of its stat);
 * 0: it is not known. The start distinguishes the script's slurmstepd from a
 * later one with the same pid.
 */
static unsigned long long start_of(pid_t pid)
{
	char name[32], line[1024];
	unsigned long long start = 0;
	const char *at = NULL;
	FILE *file;

	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	file = fopen(name, "re");
	if (!file)
		return 0;
	/* The program's name, in brackets, may contain blanks and brackets. */
	if (fgets(line, sizeof(line), file))
		at = strrchr(line, ')');
	fclose(file);
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at && sscanf(at, "%llu", &start) == 1 ? start : 0;
}

/* Returns the end of a goal that says whether it is a gang; NULL: none does. */
static const char *gang_of(const char *goal)
{
	return strstr(goal, GANG);
}

static bool is_on_other_nodes(const char *goal)
{
	const char *gang = gang_of(goal);

	return gang && strcmp(gang, GANG_NODES) == 0;
}

/*
 * Returns whether the goals are the same. A step of one node may have a part in
 * the goal of a script whose job has several.
 */
static bool is_same_goal(const char *one, const char *other)
{
	size_t length = strlen(one), others = strlen(other);

	if (is_on_other_nodes(one))
		length -= strlen(GANG_NODES);
	if (is_on_other_nodes(other))
		others -= strlen(GANG_NODES);
	return length == others && memcmp(one, other, length) == 0;
}

/*
 * Takes the hold of the job's batch script, if its slurmstepd still runs and
 * its goal is right.
 */
static bool inherit(struct hold *hold, const char *path, bool any)
{
	char name[HOLD_NAME_SIZE], goal[GOAL_SIZE], gpu[GPU_NAME_SIZE];
	struct gpus gpus = {0};
	struct stat seen;
	FILE *file = fopen(path, "re");
	unsigned long long start = 0;
	int holder = 0;
	bool found;

	if (!file)
		return false;
	found = fstat(fileno(file), &seen) == 0 && seen.st_uid == geteuid() &&
		fscanf(file, "%128s %159s %d %llu", name, goal, &holder,
		       &start) == 4;
	while (found && gpus.count < GPUS_MOST &&
	       fscanf(file, "%47s", gpu) == 1)
		strcpy(gpus.name[gpus.count++], gpu);
	fclose(file);
	if (!found || holder <= 0 || !is_stepd(holder) || !start ||
	    start_of(holder) != start)
		return false;
	if (!is_same_goal(goal, hold->goal) && !any) {
		strcpy(hold->beside, goal);
		return false;
	}
	strcpy(hold->goal, goal);
	strcpy(hold->name, name);
	hold->gpus = gpus;
	hold->holder = holder;
	hold->inherited = true;
	hold->is_joined = is_on_other_nodes(goal);
	return true;
}

/*
 * Names the hold by its job and its goal: "job:17.share:30.cap:50" for
 * "share:30%,cap:50%".
 */
static void name_by_goal(struct hold *hold, uint32_t job)
{
	const char *end = gang_of(hold->goal);
	int used = snprintf(hold->name, HOLD_NAME_SIZE, "job:%u.", job);

	for (const char *at = hold->goal;
	     at < end && used < HOLD_NAME_SIZE - 1; at++)
		if (*at != '%')
			hold->name[used++] = *at == ',' ? '.' : *at;
	hold->name[used] = 0;
}

void hold_prepare(struct hold *hold, const struct step *step, const char *goal,
		  bool any, const struct service *service)
{
	memset(hold, 0, sizeof(*hold));
	strcpy(hold->step, step->name);
	snprintf(hold->goal, sizeof(hold->goal), "%s", goal);
	if (!file_name(hold->file, service->path, step->job))
		hold->file[0] = 0;
	else if (!step->is_script && inherit(hold, hold->file, any))
		return;
	hold->is_joined = is_on_other_nodes(hold->goal);
	if (hold->is_joined)
		name_by_goal(hold, step->job);
	else
		strcpy(hold->name, step->name);
	hold->gpus = step->gpus;
	hold->holder = getpid();
}

void hold_leave_nodes(struct hold *hold)
{
	hold->goal[strlen(hold->goal) - strlen(GANG_NODES)] = 0;
	hold->is_joined = false;
	strcpy(hold->name, hold->step);
}

bool hold_line(const struct hold *hold, pid_t task, char line[static LINE_SIZE])
{
	char cgroup[256];
	/* In a request gang= is a word of its own, after the goal. */
	const char *gang = gang_of(hold->goal);
	const int length = gang ? (int)(gang - hold->goal) : GOAL_SIZE;
	size_t used = (size_t)snprintf(line, LINE_SIZE, "%s %s %.*s",
				       hold->is_joined ? "join" : "hold",
				       hold->name, length, hold->goal);

	for (size_t gpu = 0; gpu < hold->gpus.count && used < LINE_SIZE; gpu++)
		used += (size_t)snprintf(line + used, LINE_SIZE - used,
					 " gpu=%s", hold->gpus.name[gpu]);
	if (used < LINE_SIZE)
		used += (size_t)snprintf(line + used, LINE_SIZE - used,
					 " pid=%d holder=%d", task,
					 hold->holder);
	if (used < LINE_SIZE && step_cgroup(task, cgroup, sizeof(cgroup)))
		used += (size_t)snprintf(line + used, LINE_SIZE - used,
					 " cgroup=%s", cgroup);
	if (used < LINE_SIZE && gang)
		used += (size_t)snprintf(line + used, LINE_SIZE - used, " %s",
					 gang + 1);
	return used < LINE_SIZE;
}

void hold_publish(struct hold *hold, const struct step *step)
{
	char unfinished[PATH_MAX + 4];
	FILE *file;
	bool whole;

	if (!step->is_script || !*hold->file)
		return;
	snprintf(unfinished, sizeof(unfinished), "%s.new", hold->file);
	unlink(unfinished);
	file = fopen(unfinished, "wxe");
	if (!file) {
		slurm_error("nvdebug: %s: %s: steps of the job have goals of their own",
			    unfinished, strerror(errno));
		return;
	}
	fprintf(file, "%s %s %d %llu", hold->name, hold->goal, hold->holder,
		start_of(hold->holder));
	for (size_t gpu = 0; gpu < hold->gpus.count; gpu++)
		fprintf(file, " %s", hold->gpus.name[gpu]);
	whole = !ferror(file);
	whole &= fclose(file) == 0;
	hold->published = whole && rename(unfinished, hold->file) == 0;
	if (hold->published)
		return;
	slurm_error("nvdebug: %s: %s: steps of the job have goals of their own",
		    hold->file, strerror(errno));
	unlink(unfinished);
}

void hold_withdraw(struct hold *hold)
{
	if (hold->published)
		unlink(hold->file);
	hold->published = false;
}
