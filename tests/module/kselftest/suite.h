/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* A program's table of tests, which runs on every GPU. */
#ifndef SUITE_H
#define SUITE_H

#include "controls.h"
#include "gpus.h"
#include "ktap.h"

enum {
	/*
	 * The test runs once with the array of all GPUs, instead of once with
	 * each.
	 */
	SUITE_ALL = 1,
	/* The test uses controls; afterwards everything is put back. */
	SUITE_CONTROLS = 2,
};

struct suite_test {
	const char *name; /* results are named gpuX.NAME, or all.NAME */
	const char *what; /* one line */
	void (*run)(const struct gpu *gpu);
	unsigned int flags;
};

/*
 * Is called by main(): PROGRAM [--list] [--one-in COUNT] [NAME...] runs all
 * tests or the named ones. --list prints "NAME: what" lines instead. With
 * --one-in a test runs on one GPU of COUNT, and COUNT tests that follow each
 * other run on different GPUs.
 */
int suite_main(int argc, char **argv, const struct suite_test *tests,
	       size_t count);

/*
 * Returns how often a test of all GPUs repeats slow work: less with --one-in.
 */
unsigned int suite_rounds(unsigned int rounds);

#define SUITE_MAIN(argc, argv, tests) \
	suite_main(argc, argv, tests, sizeof(tests) / sizeof(*(tests)))

#endif
