// SPDX-License-Identifier: MIT OR GPL-2.0
#include "suite.h"

#include <stdio.h>

#include "state.h"

static struct gpu gpus[GPUS_MAX + 1];

struct run {
	const struct suite_test *test;
	const struct gpu *gpu;
};

static bool is_wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc < 2;
}

static unsigned int planned(int argc, char **argv,
			    const struct suite_test *tests, size_t count,
			    size_t gpu_count)
{
	size_t total = 0;

	for (size_t i = 0; i < count; i++)
		if (is_wanted(tests[i].name, argc, argv))
			total += tests[i].flags & SUITE_ALL ? 1 : gpu_count;
	return (unsigned int)total;
}

/* Runs in a process of its own. */
static void run_test(const void *subject)
{
	const struct run *run = subject;

	run->test->run(run->gpu);
}

/*
 * The test proper is one process further down: whatever becomes of it, the
 * state is put back.
 */
static void run_restoring(const void *subject)
{
	const struct run *run = subject;
	struct state before = state_read(run->gpu);
	enum ktap_status status;
	int pid = ktap_fork();

	if (pid == 0) {
		run_test(run);
		ktap_end();
	}
	status = ktap_wait(pid);
	state_expect(run->gpu, &before, "after the test");
	state_restore(run->gpu, &before);
	ktap_end_as(status);
}

static void run_one(const struct suite_test *test, const struct gpu *gpu)
{
	struct run run = { test, gpu };
	char name[80];

	snprintf(name, sizeof(name), "%s.%s",
		 test->flags & SUITE_ALL ? "all" : gpu->name, test->name);
	ktap_result(ktap_run(name, test->flags & SUITE_CONTROLS ?
				   run_restoring : run_test, &run), name);
}

static bool is_known(const char *name, const struct suite_test *tests,
		     size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(tests[i].name, name))
			return true;
	return false;
}

int suite_main(int argc, char **argv, const struct suite_test *tests,
	       size_t count)
{
	size_t gpu_count = gpus_find(gpus);

	if (argc == 2 && !strcmp(argv[1], "--list")) {
		for (size_t i = 0; i < count; i++)
			printf("%s: %s\n", tests[i].name, tests[i].what);
		return KTAP_PASS;
	}
	for (int i = 1; i < argc; i++) {
		if (is_known(argv[i], tests, count))
			continue;
		fprintf(stderr, "usage: %s [--list] [NAME]...\n", argv[0]);
		return KTAP_FAIL;
	}
	if (!gpu_count)
		return ktap_skip_all("no GPU folder; is the module loaded?");
	ktap_plan(planned(argc, argv, tests, count, gpu_count));
	for (size_t i = 0; i < count; i++) {
		if (!is_wanted(tests[i].name, argc, argv))
			continue;
		if (tests[i].flags & SUITE_ALL)
			run_one(&tests[i], gpus);
		else
			for (size_t g = 0; g < gpu_count; g++)
				run_one(&tests[i], &gpus[g]);
	}
	return ktap_finish();
}
