// SPDX-License-Identifier: MIT OR GPL-2.0
#include "workers.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "faults.h"
#include "ktap.h"

#define WORKERS_MAX 256

static int workers[WORKERS_MAX]; /* descriptor of each fail-nth */
static size_t count;

static bool is_worker(const char *pid)
{
	char path[300], name[16] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	(void)!fread(name, 1, sizeof(name) - 1, file);
	fclose(file);
	return !strncmp(name, "kworker/", 8);
}

static void arm(const char *pid, unsigned int nth)
{
	char path[300];
	int fd;

	ASSERT(count < WORKERS_MAX, "more workers than this test expects");
	snprintf(path, sizeof(path), "/proc/%s/fail-nth", pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	/* An idle worker may have ended. */
	if (fd >= 0 && dprintf(fd, "%u", nth) > 0)
		workers[count++] = fd;
	else if (fd >= 0)
		close(fd);
}

void workers_arm(unsigned int nth)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	ASSERT(dir, "/proc: %s", strerror(errno));
	while ((entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    is_worker(entry->d_name))
			arm(entry->d_name, nth);
	closedir(dir);
	ASSERT(count, "there are no workers");
}

unsigned int workers_disarm(void)
{
	unsigned int least = FAULTS_NEVER;

	while (count) {
		int fd = workers[--count];
		char text[16] = "";

		if (pread(fd, text, sizeof(text) - 1, 0) > 0 &&
		    (unsigned int)atoi(text) < least)
			least = (unsigned int)atoi(text);
		(void)!pwrite(fd, "0", 1, 0);
		close(fd);
	}
	return least;
}
