// SPDX-License-Identifier: MIT OR GPL-2.0
#define _GNU_SOURCE
#include "account.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/spank.h>

#define NAME_SIZE 256
#define STEP_LINES_SIZE (GPUS_MOST * 512)

/*
 * A function of Slurm's library without a declaration in its headers: the node's
 * name in slurm.conf.
 */
extern char *slurm_conf_get_aliased_nodename(void) __attribute__((weak));

static void node_name(char name[static NAME_SIZE])
{
	char *found = slurm_conf_get_aliased_nodename ?
			      slurm_conf_get_aliased_nodename() :
			      NULL;

	if (found) {
		snprintf(name, NAME_SIZE, "%s", found);
		return;
	}
	if (gethostname(name, NAME_SIZE) < 0)
		name[0] = 0;
	name[NAME_SIZE - 1] = 0;
	name[strcspn(name, ".")] = 0;
}

/*
 * Adds a line: when the step ended (0: not yet), its slurmstepd, and the text. A
 * line that does not fit is left out.
 */
static void add_line(char *lines, size_t size, const char *head,
		     const char *text, int length, bool has_ended)
{
	size_t used = strlen(lines);

	if (snprintf(lines + used, size - used, "%lld %d %s%.*s\n",
		     has_ended ? (long long)time(NULL) : 0, getpid(), head,
		     length, text) >= (int)(size - used))
		lines[used] = 0;
}

/* Writes a line for each entry, or for each GPU if there are none. */
static void step_lines(const struct hold *hold, const char *head,
		       const char *entries, bool has_ended,
		       char lines[static STEP_LINES_SIZE])
{
	char text[GOAL_SIZE + GPU_NAME_SIZE + 64];
	/* Entries of nvqos have the goal without gang=, too. */
	const char *gang = strstr(hold->goal, GANG);
	const int length = gang ? (int)(gang - hold->goal) : GOAL_SIZE;

	lines[0] = 0;
	for (const char *at = entries; at && *at;) {
		const char *end = strstr(at, "; ");

		add_line(lines, STEP_LINES_SIZE, head, at,
			 end ? (int)(end - at) : (int)strlen(at), has_ended);
		at = end ? end + 2 : NULL;
	}
	if (*lines)
		return;
	for (size_t gpu = 0; gpu < hold->gpus.count || gpu == 0; gpu++) {
		snprintf(text, sizeof(text),
			 "gpu=%s asked=%.*s got=unknown kept=unknown",
			 hold->gpus.count ? hold->gpus.name[gpu] : "all",
			 length, hold->goal);
		add_line(lines, STEP_LINES_SIZE, head, text, (int)strlen(text),
			 has_ended);
	}
}

/*
 * Copies a line of the file, unless it is a former line of the same step, or too
 * old. A step whose slurmstepd was killed ends now.
 */
static void keep_line(const char *line, const char *head, FILE *to)
{
	long long ended;
	int pid, at = 0;

	if (sscanf(line, "%lld %d %n", &ended, &pid, &at) != 2 || !at ||
	    !strchr(line, '\n') || strncmp(line + at, head, strlen(head)) == 0 ||
	    (ended && time(NULL) - ended > ACCOUNT_KEPT_S))
		return;
	if (!ended && !is_stepd(pid))
		ended = time(NULL);
	fprintf(to, "%lld %d %s", ended, pid, line + at);
}

/*
 * Makes the new text of the file: the lines of other steps, and then those of
 * this step. Returns NULL without memory; the caller frees it.
 */
static char *merged(FILE *file, const char *head, const char *lines)
{
	char *text = NULL, *line = NULL;
	size_t size = 0, room = 0;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	while (getline(&line, &room, file) > 0)
		keep_line(line, head, to);
	free(line);
	fputs(lines, to);
	if (fclose(to) == 0)
		return text;
	free(text);
	return NULL;
}

/* Skips the oldest lines, so that the rest is short enough for slurmctld. */
static const char *newest(const char *text)
{
	size_t length = strlen(text);

	while (length > ACCOUNT_SIZE) {
		const char *next = strchr(text, '\n') + 1;

		length -= (size_t)(next - text);
		text = next;
	}
	return text;
}

/* Sends the lines without their first two words, with "; " between them. */
static void send_lines(char *node, const char *text)
{
	char *extra = malloc(strlen(text) * 2 + 1), *to = extra;
	update_node_msg_t message;

	if (!extra)
		return;
	for (const char *at = text; *at; at = strchr(at, '\n') + 1) {
		const char *entry = strchr(strchr(at, ' ') + 1, ' ') + 1;

		to += sprintf(to, "%s%.*s", to == extra ? "" : "; ",
			      (int)strcspn(entry, "\n"), entry);
	}
	*to = 0;
	slurm_init_update_node_msg(&message);
	message.node_names = node;
	message.extra = extra;
	if (slurm_update_node(&message) != SLURM_SUCCESS)
		slurm_error("nvdebug: slurmctld does not take the account of node %s: %s",
			    node, slurm_strerror(errno));
	free(extra);
}

void account_write(const struct hold *hold, const struct service *service,
		   time_t began, const char *entries, bool has_ended)
{
	char path[PATH_MAX], node[NAME_SIZE], lines[STEP_LINES_SIZE],
		head[NAME_SIZE + STEP_NAME_SIZE + 64];
	const char *end = strrchr(service->path, '/');
	char *text = NULL;
	FILE *file;
	int fd;

	node_name(node);
	snprintf(head, sizeof(head), "nvdebug: step=%s node=%s begin=%lld ",
		 hold->step + strlen("job:"), node, (long long)began);
	step_lines(hold, head, entries, has_ended, lines);
	if (has_ended)
		slurm_info("%s%s", head, entries ? entries : "not known");
	snprintf(path, sizeof(path), "%.*s/slurm-account",
		 (int)(end - service->path), service->path);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	file = fd < 0 ? NULL : fdopen(fd, "r+");
	/* The lock ends with the file. Other steps of the node wait for it. */
	if (file && flock(fd, LOCK_EX) == 0)
		text = merged(file, head, lines);
	if (text && (ftruncate(fd, 0) < 0 || pwrite(fd, text, strlen(text), 0) !=
						     (ssize_t)strlen(text))) {
		free(text);
		text = NULL;
	}
	if (text)
		send_lines(node, newest(text));
	else
		slurm_error("nvdebug: %s: %s: the account of step %s is in this log only",
			    path, strerror(errno), hold->step);
	free(text);
	if (file)
		fclose(file);
	else if (fd >= 0)
		close(fd);
}
