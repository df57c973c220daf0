/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The part of a GPU's state that its controls change, to compare it and to put
 * it back.
 */
#ifndef STATE_H
#define STATE_H

#include "gpus.h"

struct state {
	/* The steady part of each runlist, and `scheduling`. */
	char *text;
	char *scheduling; /* "" without `scheduling` */
	struct channels channels;
	struct tsgs tsgs;
};

bool state_is_readable(const struct gpu *gpu);

/* Reads the state. Ends the test if a part of it cannot be read. */
struct state state_read(const struct gpu *gpu);
void state_free(struct state *state);

/* Fails the test if the present state differs. */
void state_expect(const struct gpu *gpu, const struct state *before,
		  const char *when);

/* Puts back the parts that differ, as far as the controls can. */
void state_restore(const struct gpu *gpu, const struct state *before);

#endif
