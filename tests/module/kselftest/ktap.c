// SPDX-License-Identifier: MIT OR GPL-2.0
#include "ktap.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * A test that takes this long hangs. It must not hide the tests after it. The
 * environment variable NVDEBUG_SLOWNESS stretches the time on slow kernels.
 */
#define HANG_S 180
#define FAILURES_MAX 20
#define REASON_MAX 200

static unsigned int number, passed, failed, skipped;
static bool this_failed; /* in the process of a test */
static unsigned int failures; /* failures in that process */
static char *skip_reason; /* shared with the process of a test */

void ktap_alarm(unsigned long seconds)
{
	const char *slowness = getenv("NVDEBUG_SLOWNESS");

	alarm((unsigned int)((double)seconds * (slowness ? atof(slowness) : 1)));
}

void ktap_plan(unsigned int tests)
{
	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	printf("KTAP version 1\n1..%u\n", tests);
	skip_reason = mmap(NULL, REASON_MAX, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (skip_reason == MAP_FAILED) {
		printf("Bail out! mmap: %s\n", strerror(errno));
		exit(KTAP_FAIL);
	}
}

static enum ktap_status status_of(int status)
{
	if (WIFSIGNALED(status)) {
		ktap_note("ended by signal %d (%s)", WTERMSIG(status),
			  strsignal(WTERMSIG(status)));
		return KTAP_FAIL;
	}
	switch (WEXITSTATUS(status)) {
	case KTAP_PASS:
		return KTAP_PASS;
	case KTAP_SKIP:
		return KTAP_SKIP;
	default:
		return KTAP_FAIL;
	}
}

enum ktap_status ktap_run(const char *name, void (*test)(const void *subject),
			  const void *subject)
{
	int status;
	pid_t pid;

	skip_reason[0] = '\0';
	pid = fork();
	if (pid < 0) {
		ktap_note("%s: fork: %s", name, strerror(errno));
		return KTAP_FAIL;
	}
	if (pid == 0) {
		ktap_alarm(HANG_S);
		test(subject);
		ktap_end();
	}
	if (waitpid(pid, &status, 0) != pid) {
		ktap_note("%s: waitpid: %s", name, strerror(errno));
		return KTAP_FAIL;
	}
	return status_of(status);
}

void ktap_result(enum ktap_status status, const char *name)
{
	number++;
	passed += status == KTAP_PASS;
	failed += status == KTAP_FAIL;
	skipped += status == KTAP_SKIP;
	if (status == KTAP_SKIP)
		printf("ok %u %s # SKIP %s\n", number, name, skip_reason);
	else
		printf("%s %u %s\n", status == KTAP_PASS ? "ok" : "not ok",
		       number, name);
}

int ktap_finish(void)
{
	printf("# Totals: pass:%u fail:%u xfail:0 xpass:0 skip:%u error:0\n",
	       passed, failed, skipped);
	if (failed)
		return KTAP_FAIL;
	return passed ? KTAP_PASS : KTAP_SKIP;
}

int ktap_skip_all(const char *reason)
{
	printf("KTAP version 1\n1..0 # SKIP %s\n", reason);
	return KTAP_SKIP;
}

void ktap_note(const char *format, ...)
{
	char line[500];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	/* The line stays one line, whatever a test quotes. */
	for (char *at = line; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '.';
	printf("# %s\n", line);
}

void ktap_note_difference(const char *expected, const char *text)
{
	while (*expected && *text) {
		size_t left = strcspn(expected, "\n");
		size_t right = strcspn(text, "\n");

		if (left != right || memcmp(expected, text, left)) {
			ktap_note("was: %.*s", (int)left, expected);
			ktap_note("now: %.*s", (int)right, text);
			return;
		}
		expected += left + (expected[left] == '\n');
		text += right + (text[right] == '\n');
	}
	ktap_note("one ends before the other");
}

void ktap_failure(const char *file, int line, const char *format, ...)
{
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	ktap_note("%s:%d: %s", file, line, text);
	this_failed = true;
	if (++failures == FAILURES_MAX) {
		ktap_note("too many failures, giving up this test");
		ktap_end();
	}
}

void ktap_alive(void)
{
	ktap_alarm(HANG_S);
}

void ktap_end(void)
{
	ktap_end_as(KTAP_PASS);
}

void ktap_skip(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(skip_reason, REASON_MAX, format, args);
	va_end(args);
	ktap_end_as(KTAP_SKIP);
}

int ktap_fork(void)
{
	pid_t pid = fork();

	ASSERT(pid >= 0, "fork: %s", strerror(errno));
	if (pid == 0) {
		this_failed = false;
		failures = 0;
		ktap_alarm(HANG_S);
	}
	return pid;
}

enum ktap_status ktap_wait(int pid)
{
	enum ktap_status result;
	int status;

	/* The other process has an alarm of its own. */
	alarm(0);
	ASSERT(waitpid(pid, &status, 0) == pid, "waitpid: %s", strerror(errno));
	ktap_alarm(HANG_S);
	result = status_of(status);
	this_failed |= result == KTAP_FAIL;
	return result;
}

void ktap_end_as(enum ktap_status status)
{
	exit(this_failed ? KTAP_FAIL : status);
}
