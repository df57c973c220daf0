/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* All that can be done to a GPU through its files, each as one thing to try. */
#ifndef OPS_H
#define OPS_H

#include "controls.h"

#define OPS_MAX 192

enum op_kind {
	OP_READ, /* a file */
	OP_ASK, /* a request that is answered */
	OP_CONTROL, /* a request that changes something */
	OP_LEASE, /* the same, and its end */
	OP_KINDS,
};

extern const char *const op_kind_names[OP_KINDS];

struct op {
	enum op_kind kind;
	char file[48];
	char request[TARGET_MAX + 32];
	char *expected; /* of OP_READ and OP_ASK: what stays the same of the text */
};

/* Of this GPU as it is now; ends the test if one of them fails. */
size_t ops_find(const struct gpu *gpu, struct op ops[OPS_MAX]);

/* Does it: 0 or why it failed; *text is malloc()ed, or NULL without one. */
int op_run(const struct gpu *gpu, const struct op *op, char **text);

/* The text without what changes by itself; malloc()ed. */
char *op_steady(const struct op *op, const char *text);

#endif
