// SPDX-License-Identifier: MIT OR GPL-2.0
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"

static const struct option *find(const struct option *options, size_t count,
				 const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(options[i].name, name))
			return &options[i];
	return NULL;
}

int options_take(int argc, char **argv, const struct option *options,
		 size_t count)
{
	int at = 1, left = 1;

	while (at < argc) {
		const struct option *option = find(options, count, argv[at]);
		char *end = "none";

		if (!option)
			break;
		if (at + 1 < argc)
			*option->number = strtoul(argv[at + 1], &end, 0);
		if (*end || end == argv[at + 1]) {
			fprintf(stderr, "%s: %s takes a number\n", argv[0],
				argv[at]);
			exit(KTAP_FAIL);
		}
		at += 2;
	}
	while (at < argc)
		argv[left++] = argv[at++];
	return left;
}
