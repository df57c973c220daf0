// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Tests of requests that are undone when the file that they were written to is
 * closed. tests/module/core tests which changes are undone and which are left
 * alone. proc_lifetime tests leases while the module and GPUs go.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "leases.h"
#include "state.h"
#include "suite.h"
#include "tree.h"

#define ROUNDS 40

/* Fails the test if nothing differs from `before`. */
static void expect_change(const struct gpu *gpu, const struct state *before,
			  const char *when)
{
	struct state now = state_read(gpu);

	EXPECT(strcmp(before->text, now.text), "%s: nothing changed %s",
	       gpu->name, when);
	state_free(&now);
}

static int open_write(const struct gpu *gpu, const char *file)
{
	int fd = gpu_open(gpu, file, O_WRONLY);

	ASSERT(fd >= 0, "%s: %s", file, strerror(errno));
	return fd;
}

/* Starts a process with leases that waits to be killed. */
static pid_t start_holder(const struct gpu *gpu, const struct request *requests,
			  size_t count)
{
	int ready[2], fds[REQUESTS_MAX];
	char byte;
	pid_t pid;

	ASSERT(!pipe(ready), "pipe: %s", strerror(errno));
	pid = fork();
	ASSERT(pid >= 0, "fork: %s", strerror(errno));
	if (!pid) {
		lease_all(gpu, requests, count, fds);
		if (write(ready[1], "", 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	close(ready[1]);
	ASSERT(read(ready[0], &byte, 1) == 1, "no leases were taken");
	close(ready[0]);
	return pid;
}

static void end_holder(pid_t pid)
{
	int status;

	ASSERT(!kill(pid, SIGKILL) && waitpid(pid, &status, 0) == pid &&
	       WIFSIGNALED(status), "it did not die of SIGKILL");
}

/* ---- ends of a lease ---- */

static void test_kill(const struct gpu *gpu)
{
	struct request requests[REQUESTS_MAX];
	size_t count = need_leases(gpu, requests);
	struct state before = state_read(gpu);

	for (size_t i = 0; i < count; i++) {
		pid_t pid = start_holder(gpu, &requests[i], 1);

		expect_change(gpu, &before, requests[i].file);
		end_holder(pid);
		state_expect(gpu, &before, requests[i].file);
	}
}

/* All leases end at once; the kernel closes their files in any order. */
static void test_kill_all(const struct gpu *gpu)
{
	struct request requests[REQUESTS_MAX];
	size_t count = need_leases(gpu, requests);
	struct state before = state_read(gpu);
	pid_t pid = start_holder(gpu, requests, count);

	expect_change(gpu, &before, "with all leases");
	end_holder(pid);
	state_expect(gpu, &before, "without its holder");
}

/* A lease lasts while any process has the file open, by dup() or inherited. */
static void test_last_close(const struct gpu *gpu)
{
	struct request requests[REQUESTS_MAX];
	size_t count = need_leases(gpu, requests);
	struct state before = state_read(gpu);

	for (size_t i = 0; i < count; i++) {
		int fd = lease(gpu, requests[i].file, requests[i].text);
		int other = dup(fd);
		pid_t pid;

		ASSERT(other >= 0, "dup: %s", strerror(errno));
		close(fd);
		expect_change(gpu, &before, "when a duplicate is left");
		pid = fork();
		ASSERT(pid >= 0, "fork: %s", strerror(errno));
		if (!pid)
			for (;;)
				pause();
		close(other);
		expect_change(gpu, &before, "when a child has it open");
		end_holder(pid);
		state_expect(gpu, &before, requests[i].file);
	}
}

/* ---- a leased file that is also read ---- */

static void test_snapshot(const struct gpu *gpu)
{
	struct tsgs tsgs;
	char text[40], *old, *now;
	int fd;

	need_file(gpu, SCHEDULING);
	tsgs = gpu_tsgs(gpu);
	ASSERT(tsgs.count, "no TSGs");
	fd = gpu_open(gpu, SCHEDULING, O_RDWR);
	ASSERT(fd >= 0, "open: %s", strerror(errno));
	snprintf(text, sizeof(text), "%u off", tsgs.at->runlist);
	EXPECT(!lease_through(fd, text), "%s", strerror(errno));
	old = read_to_end(fd, NULL);
	now = gpu_read(gpu, SCHEDULING, NULL);
	ASSERT(old && now, "read: %s", strerror(errno));
	EXPECT(!strstr(old, "off") && strstr(now, "off"),
	       "old: %s, now: %s", old, now);
	close(fd);
	now = gpu_read(gpu, SCHEDULING, NULL);
	EXPECT(now && !strcmp(old, now), "it is not on again");
}

/* ---- leases beside each other ---- */

/*
 * Takes and drops a lease again and again. Another control may be faster, so
 * that a list is gone when it is to be read.
 */
static void take_and_drop(const struct gpu *gpu, const struct request *request)
{
	for (int round = 0; round < ROUNDS; round++) {
		int fd = open_write(gpu, request->file);
		int error = lease_through(fd, request->text);

		EXPECT(!error || error == EBUSY || error == EFAULT, "%s: %s",
		       request->file, strerror(error));
		close(fd);
	}
}

static void test_concurrent(const struct gpu *gpu)
{
	struct request requests[REQUESTS_MAX];
	size_t count = need_leases(gpu, requests);
	struct state before = state_read(gpu);
	int pids[REQUESTS_MAX];

	for (size_t i = 0; i < count; i++) {
		pids[i] = ktap_fork();
		if (!pids[i]) {
			take_and_drop(gpu, &requests[i]);
			ktap_end();
		}
	}
	for (size_t i = 0; i < count; i++)
		ktap_wait(pids[i]);
	state_expect(gpu, &before, "after many leases");
}

/* Writers through one open file are killed in the middle of their work. */
static void test_killed_writers(const struct gpu *gpu)
{
	struct request requests[REQUESTS_MAX];
	size_t count = need_leases(gpu, requests);
	struct state before = state_read(gpu);

	for (int round = 0; round < 8; round++) {
		pid_t pids[REQUESTS_MAX];

		for (size_t i = 0; i < count; i++) {
			pids[i] = fork();
			ASSERT(pids[i] >= 0, "fork: %s", strerror(errno));
			if (!pids[i])
				for (;;)
					take_and_drop(gpu, &requests[i]);
		}
		usleep(3000 * (useconds_t)(round + 1));
		for (size_t i = 0; i < count; i++)
			end_holder(pids[i]);
		state_expect(gpu, &before, "after writers were killed");
	}
}

static const struct suite_test tests[] = {
	{ "kill", "the end of the holder puts everything back", test_kill,
	  SUITE_CONTROLS },
	{ "kill_all", "with all kinds of leases", test_kill_all,
	  SUITE_CONTROLS },
	{ "last_close", "duplicates and children keep a lease",
	  test_last_close, SUITE_CONTROLS },
	{ "snapshot", "an open file keeps what was", test_snapshot,
	  SUITE_CONTROLS },
	{ "concurrent", "all kinds at once", test_concurrent, SUITE_CONTROLS },
	{ "killed_writers", "and their writers killed", test_killed_writers,
	  SUITE_CONTROLS },
};

int main(int argc, char **argv)
{
	return SUITE_MAIN(argc, argv, tests);
}
