/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The files that docs/proc.md knows, and what holds of each. */
#ifndef TREE_H
#define TREE_H

#include "gpus.h"

enum {
	/* What it shows changes by itself. */
	FILE_MOVES = 1,
	/* Reads memory of the GPU, which may need the PRAMIN window. */
	FILE_MEMORY = 2,
	/* Has nothing to read but the answer to what was written before. */
	FILE_ANSWERS = 4,
	/* Cannot be opened if its hardware is wired to nothing. */
	FILE_UNCONNECTED = 8,
	/* Not every chip of these generations has it: `info` shows which. */
	FILE_OF_SOME = 16,
};

/* In order of age; GM10x counts as Kepler, to which it is close. */
enum generation {
	UNKNOWN, KEPLER, MAXWELL, PASCAL, VOLTA, TURING, AMPERE, ADA, HOPPER,
	BLACKWELL,
};

struct file_kind {
	const char *name; /* '#' stands for a number */
	unsigned int mode; /* with default parameters */
	unsigned int flags;
	enum generation first, last; /* that have it */
	const char *feature; /* in `info`, NULL if it belongs to none */
};

extern const struct file_kind file_kinds[];
extern const size_t file_kind_count;

/* NULL for a file that is not documented. */
const struct file_kind *file_kind(const char *file);
bool file_is(const char *file, unsigned int flag);

/* Files that the module's parameters let more people read. */
bool file_is_state(const char *file);

/* As gpu_files(), but only those that show something by themselves. */
void gpu_texts(const struct gpu *gpu, unsigned int mode, struct files *files);

/* Those that change something when they are written. */
void gpu_controls(const struct gpu *gpu, struct files *files);

/* Does "info" have the line "feature NAME: yes"? */
bool gpu_feature(const struct gpu *gpu, const char *name);

enum generation gpu_generation(const struct gpu *gpu);
bool file_fits(const struct file_kind *kind, enum generation generation);

/* Skips the test if this generation has no such file; fails it if it should. */
void need_file(const struct gpu *gpu, const char *file);

#endif
