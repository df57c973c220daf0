/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* All world-readable text of all GPUs that stays, to find it again after a change. */
#ifndef TOPOLOGY_H
#define TOPOLOGY_H

#include "gpus.h"

struct topology {
	struct gpu gpus[GPUS_MAX + 1];
	size_t count;
	char *text[GPUS_MAX]; /* each file's name and text, one after the other */
};

void topology_read(struct topology *topology);
void topology_free(struct topology *topology);

/* Is what is there now the same, folder for folder? */
bool topology_is(const struct topology *expected);

/* Fails the test unless it is. */
void topology_expect(const struct topology *expected, const char *when);

/* One GPU's; malloc()ed. */
char *topology_text(const struct gpu *gpu);

#endif
