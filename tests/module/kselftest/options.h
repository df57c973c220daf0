/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Parses numbers on the command line: --NAME NUMBER. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stddef.h>

struct option {
	const char *name; /* with its dashes */
	unsigned long *number;
};

/*
 * Takes these options, which come first, out of argv; returns the rest of argc.
 * Ends the program for an option without a number.
 */
int options_take(int argc, char **argv, const struct option *options,
		 size_t count);

#define OPTIONS_TAKE(argc, argv, options) \
	options_take(argc, argv, options, sizeof(options) / sizeof(*(options)))

#endif
