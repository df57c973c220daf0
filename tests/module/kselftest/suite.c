// SPDX-License-Identifier: MIT OR GPL-2.0
#include "suite.h"

#include <stdio.h>

#include "options.h"
#include "state.h"

static struct gpu gpus[GPUS_MAX + 1];
/* Each test runs on one GPU of so many; the next test takes other GPUs. */
static unsigned long one_in = 1;

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

/* Returns whether test @i runs on GPU @g. */
static bool is_its_turn(const struct suite_test *tests, size_t i, size_t g)
{
	return tests[i].flags & SUITE_ALL ? g == 0 : (i + g) % one_in == 0;
}

static unsigned int planned(int argc, char **argv,
			    const struct suite_test *tests, size_t count,
			    size_t gpu_count)
{
	unsigned int total = 0;

	for (size_t i = 0; i < count; i++)
		if (is_wanted(tests[i].name, argc, argv))
			for (size_t g = 0; g < gpu_count; g++)
				total += is_its_turn(tests, i, g);
	return total;
}

/* Runs the test; the caller has made a process for it. */
static void run_test(const void *subject)
{
	const struct run *run = subject;

	run->test->run(run->gpu);
}

/*
 * Runs the test in one more process, so that the state is put back whatever
 * becomes of the test.
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

	snprintf(name, sizeof(name), "%.20s.%s",
		 test->flags & SUITE_ALL ? "all" : gpu->name, test->name);
	ktap_result(ktap_run(name, test->flags & SUITE_CONTROLS ?
				   run_restoring : run_test, &run), name);
}

unsigned int suite_rounds(unsigned int rounds)
{
	return (rounds + one_in - 1) / one_in;
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
	static const struct option options[] = { { "--one-in", &one_in } };
	size_t gpu_count = gpus_find(gpus);

	argc = OPTIONS_TAKE(argc, argv, options);
	if (argc == 2 && !strcmp(argv[1], "--list")) {
		for (size_t i = 0; i < count; i++)
			printf("%s: %s\n", tests[i].name, tests[i].what);
		return KTAP_PASS;
	}
	for (int i = 1; i < argc; i++) {
		if (is_known(argv[i], tests, count))
			continue;
		fprintf(stderr, "usage: %s [--list] [--one-in COUNT] [NAME]...\n",
			argv[0]);
		return KTAP_FAIL;
	}
	if (!gpu_count)
		return ktap_skip_all("no GPU folder; is the module loaded?");
	/* Every test runs on some GPU. */
	if (!one_in)
		one_in = 1;
	else if (one_in > gpu_count)
		one_in = gpu_count;
	ktap_plan(planned(argc, argv, tests, count, gpu_count));
	for (size_t i = 0; i < count; i++) {
		if (!is_wanted(tests[i].name, argc, argv))
			continue;
		for (size_t g = 0; g < gpu_count; g++)
			if (is_its_turn(tests, i, g))
				run_one(&tests[i], &gpus[g]);
	}
	return ktap_finish();
}
