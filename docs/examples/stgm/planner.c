/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The same as camera.cpp in C: a kernel alone, and then a CPU segment. */
#include <stdio.h>
#include <time.h>

#include <nvdebug/stgm_task.h>

static void wait_us(long us)
{
	const struct timespec length = {us / 1000000, us % 1000000 * 1000};

	nanosleep(&length, NULL);
}

int main(void)
{
	const char *error;
	nvstgm_task *task = nvstgm_join(&error);
	int job;

	if (!task) {
		fprintf(stderr, "planner: %s\n", error);
		return 1;
	}
	/* The GPU is opened here, and all memory allocated. */
	job = nvstgm_ready(task);
	while (job == 1 && (job = nvstgm_next_job(task)) == 1) {
		if (nvstgm_segment_begin(task) < 0 || nvstgm_kernel_begin(task) < 0) {
			job = -1;
			break;
		}
		wait_us(1000); /* launch, and wait for the end */
		nvstgm_kernel_end(task);
		nvstgm_segment_end(task);
		/* A CPU segment: what is computed here, until the next job is asked for. */
		nvstgm_point(task);
	}
	if (job < 0)
		fprintf(stderr, "planner: %s\n", nvstgm_error(task));
	nvstgm_leave(task);
	return job < 0;
}
