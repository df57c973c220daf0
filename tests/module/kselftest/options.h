/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Numbers on the command line: --NAME NUMBER. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stddef.h>

struct option {
	const char *name; /* with its dashes */
	unsigned long *number;
};

/*
 * Takes these options, which come before anything else, out of argv; returns
 * what is left of argc. Ends the program for one that has no number.
 */
int options_take(int argc, char **argv, const struct option *options,
		 size_t count);

#define OPTIONS_TAKE(argc, argv, options) \
	options_take(argc, argv, options, sizeof(options) / sizeof(*(options)))

#endif
