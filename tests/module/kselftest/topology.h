/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The world-readable text of all GPUs that does not change, to compare it
 * later.
 */
#ifndef TOPOLOGY_H
#define TOPOLOGY_H

#include "gpus.h"

struct topology {
	struct gpu gpus[GPUS_MAX + 1];
	size_t count;
	char *text[GPUS_MAX]; /* name and text of each file */
};

void topology_read(struct topology *topology);
void topology_free(struct topology *topology);

/* Returns whether the present text is the same, folder for folder. */
bool topology_is(const struct topology *expected);

/* Fails the test unless the present text is the same. */
void topology_expect(const struct topology *expected, const char *when);

/* Returns the text of one GPU; malloc()ed. */
char *topology_text(const struct gpu *gpu);

#endif
