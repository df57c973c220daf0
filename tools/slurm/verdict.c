// SPDX-License-Identifier: MIT OR GPL-2.0
#define _GNU_SOURCE
#include "verdict.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

struct verdicts *verdicts_make(size_t tasks)
{
	size_t bytes = sizeof(struct verdicts) + tasks * sizeof(struct verdict);
	struct verdicts *made = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (made == MAP_FAILED)
		return NULL;
	made->tasks = tasks;
	made->bytes = bytes;
	atomic_flag_clear(&made->printed);
	for (size_t task = 0; task < tasks; task++)
		sem_init(&made->task[task].given, 1, 0);
	return made;
}

void verdict_give(struct verdict *verdict, bool granted, const char *sentence)
{
	verdict->granted = granted;
	snprintf(verdict->sentence, sizeof(verdict->sentence), "%s", sentence);
	sem_post(&verdict->given);
}

bool verdict_wait(struct verdict *verdict, int timeout_ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += timeout_ms % 1000 * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	while (sem_clockwait(&verdict->given, CLOCK_MONOTONIC, &until) < 0)
		if (errno != EINTR)
			return false;
	return true;
}
