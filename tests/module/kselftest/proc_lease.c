// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Requests that are undone when the file through which they were written is
 * closed. That the module and GPUs go meanwhile is for proc_lifetime.
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

/* A process with leases that waits to be killed. */
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

/* ---- what ends a lease ---- */

static void test_close(const struct gpu *gpu)
{
	struct request requests[REQUESTS_MAX];
	size_t count = need_leases(gpu, requests);
	struct state before = state_read(gpu);

	for (size_t i = 0; i < count; i++) {
		int fd = lease(gpu, requests[i].file, requests[i].text);

		expect_change(gpu, &before, requests[i].file);
		close(fd);
		state_expect(gpu, &before, requests[i].file);
	}
}

static void test_enable(const struct gpu *gpu)
{
	struct channels channels = enabled_channels(gpu, 1);
	char target[TARGET_MAX];
	int fd;

	set_enabled(gpu, channels.at, false);
	target_of(gpu, channels.at, target);
	fd = lease(gpu, ENABLE, target);
	EXPECT(is_enabled(gpu, channels.at), "it is not enabled");
	close(fd);
	EXPECT(!is_enabled(gpu, channels.at), "it is still enabled");
	set_enabled(gpu, channels.at, true);
}

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

/* All at once, which the kernel closes in whatever order. */
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

/* Whoever has it open keeps it: by dup(), or inherited. */
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

/* ---- what is undone ---- */

/* A lease beside requests that are none, through one open file. */
static void test_only_the_leased(const struct gpu *gpu)
{
	struct channels channels = enabled_channels(gpu, 2);
	char plain[TARGET_MAX], leased[TARGET_MAX];
	int fd;

	target_of(gpu, &channels.at[0], plain);
	target_of(gpu, &channels.at[1], leased);
	fd = lease(gpu, DISABLE, leased);
	EXPECT(write(fd, plain, strlen(plain)) == (ssize_t)strlen(plain),
	       "write: %s", strerror(errno));
	close(fd);
	EXPECT(!is_enabled(gpu, &channels.at[0]), "what was no lease is undone");
	EXPECT(is_enabled(gpu, &channels.at[1]), "the lease is not undone");
	set_enabled(gpu, &channels.at[0], true);
}

static void test_timeslice_meanwhile(const struct gpu *gpu)
{
	struct tsgs tsgs, now;
	char text[80];
	int fd;

	need_file(gpu, TIMESLICE);
	tsgs = gpu_tsgs(gpu);
	ASSERT(tsgs.count, "no TSGs");
	snprintf(text, sizeof(text), "%u:%u 500", tsgs.at->runlist,
		 tsgs.at->id);
	fd = lease(gpu, TIMESLICE, text);
	EXPECT(!control_format(gpu, TIMESLICE, "%u:%u 3000", tsgs.at->runlist,
			       tsgs.at->id), "a second one is refused");
	close(fd);
	now = gpu_tsgs(gpu);
	EXPECT(!strncmp(now.at->timeslice, "29", 2), "it is %s, not some 3000",
	       now.at->timeslice);
	EXPECT(!control_format(gpu, TIMESLICE, "%u:%u %s", tsgs.at->runlist,
			       tsgs.at->id, tsgs.at->timeslice),
	       "it does not go back");
}

/* A list of the module's own comes and goes while a timeslice is leased. */
static void test_timeslice_beneath(const struct gpu *gpu)
{
	struct state before;
	const struct tsg *tsg;
	char text[80];
	int slice, list;

	need_file(gpu, SWITCH);
	before = state_read(gpu);
	tsg = before.tsgs.at;
	ASSERT(tsg, "no TSGs");
	snprintf(text, sizeof(text), "%u:%u 500", tsg->runlist, tsg->id);
	slice = lease(gpu, TIMESLICE, text);
	snprintf(text, sizeof(text), "%u:%u", tsg->runlist, tsg->id);
	list = lease(gpu, SWITCH, text);
	close(slice);
	close(list);
	state_expect(gpu, &before, "after a timeslice and then a list");

	list = lease(gpu, SWITCH, text);
	snprintf(text, sizeof(text), "%u:%u 500", tsg->runlist, tsg->id);
	slice = lease(gpu, TIMESLICE, text);
	close(list);
	close(slice);
	state_expect(gpu, &before, "after a list and then its timeslice");
}

static void test_switch_meanwhile(const struct gpu *gpu)
{
	struct state before;
	const struct tsg *first, *second = NULL;
	struct tsgs now = { NULL, 0 };
	char text[80], *list;
	int fd;

	need_file(gpu, SWITCH);
	before = state_read(gpu);
	first = before.tsgs.at;
	for (size_t i = 1; i < before.tsgs.count && !second; i++)
		if (before.tsgs.at[i].runlist == first->runlist &&
		    before.tsgs.at[i].id != first->id)
			second = &before.tsgs.at[i];
	ASSERT(second, "no two TSGs in a list");
	snprintf(text, sizeof(text), "%u:%u", first->runlist, first->id);
	fd = lease(gpu, SWITCH, text);
	EXPECT(!control_format(gpu, SWITCH, "%u:%u", second->runlist,
			       second->id), "a second one is refused");
	close(fd);
	list = gpu_runlist(gpu, first->runlist);
	runlist_tsgs(list, first->runlist, &now);
	EXPECT(now.count == 1 && now.at->id == second->id,
	       "the end of the lease touched another one's list");
	EXPECT(!control_format(gpu, RESUBMIT, "%u", first->runlist),
	       "resubmitting is refused");
	state_expect(gpu, &before, "after resubmitting");

	fd = lease(gpu, SWITCH, text);
	EXPECT(!control_format(gpu, RESUBMIT, "%u", first->runlist),
	       "resubmitting is refused");
	state_expect(gpu, &before, "resubmitted during the lease");
	close(fd);
	state_expect(gpu, &before, "after a lease that was over before");
}

/* ---- files that are read, too ---- */

static void test_answer(const struct gpu *gpu)
{
	char wanted[80], *text;
	struct tsgs tsgs;
	int fd;

	need_file(gpu, TIMESLICE);
	tsgs = gpu_tsgs(gpu);
	ASSERT(tsgs.count, "no TSGs");
	fd = gpu_open(gpu, TIMESLICE, O_RDWR);
	ASSERT(fd >= 0, "open: %s", strerror(errno));
	snprintf(wanted, sizeof(wanted), "%u:%u 500", tsgs.at->runlist,
		 tsgs.at->id);
	EXPECT(!lease_through(fd, wanted), "%s", strerror(errno));
	text = read_to_end(fd, NULL);
	ASSERT(text, "read: %s", strerror(errno));
	snprintf(wanted, sizeof(wanted), "runlist: %u\ntsg: %u\nasked_us: 500.000\n",
		 tsgs.at->runlist, tsgs.at->id);
	EXPECT(!strncmp(text, wanted, strlen(wanted)), "answer: %s", text);
	close(fd);
}

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

/* ---- together ---- */

/*
 * Again and again. Another control may be faster, so that a list is not there
 * any more when it is to be read.
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

/* Writers through one open file, which are killed while at it. */
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
	{ "close", "closing the file puts everything back", test_close,
	  SUITE_CONTROLS },
	{ "enable", "also what was enabled", test_enable, SUITE_CONTROLS },
	{ "kill", "the end of the holder does", test_kill, SUITE_CONTROLS },
	{ "kill_all", "with all kinds of leases", test_kill_all,
	  SUITE_CONTROLS },
	{ "last_close", "duplicates and children keep a lease",
	  test_last_close, SUITE_CONTROLS },
	{ "only_the_leased", "also beside a lease", test_only_the_leased,
	  SUITE_CONTROLS },
	{ "timeslice_meanwhile", "another timeslice stays",
	  test_timeslice_meanwhile, SUITE_CONTROLS },
	{ "timeslice_beneath", "timeslices and lists in any order",
	  test_timeslice_beneath, SUITE_CONTROLS },
	{ "switch_meanwhile", "another list stays", test_switch_meanwhile,
	  SUITE_CONTROLS },
	{ "answer", "a lease answers", test_answer, SUITE_CONTROLS },
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
