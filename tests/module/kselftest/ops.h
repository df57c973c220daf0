/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The operations that a GPU's files allow, each to be tried by itself. */
#ifndef OPS_H
#define OPS_H

#include "controls.h"

#define OPS_MAX 192

enum op_kind {
	OP_READ, /* reads a file */
	OP_ASK, /* a request that is answered */
	OP_CONTROL, /* a request that changes something */
	OP_LEASE, /* takes and ends a lease of such a request */
	OP_KINDS,
};

extern const char *const op_kind_names[OP_KINDS];

struct op {
	enum op_kind kind;
	char file[48];
	char request[TARGET_MAX + 32];
	/* The text of OP_READ and OP_ASK, as far as it stays the same. */
	char *expected;
};

/*
 * Finds the operations of this GPU in its present state. Ends the test if one
 * of them fails.
 */
size_t ops_find(const struct gpu *gpu, struct op ops[OPS_MAX]);

/*
 * Carries out the operation. Returns 0 or its errno; *text is malloc()ed, or
 * NULL without a text.
 */
int op_run(const struct gpu *gpu, const struct op *op, char **text);

/* Returns the text without the parts that change by themselves; malloc()ed. */
char *op_steady(const struct op *op, const char *text);

#endif
