/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The files that docs/proc.md describes, and their properties. */
#ifndef TREE_H
#define TREE_H

#include "gpus.h"

enum {
	/* The text changes by itself. */
	FILE_MOVES = 1,
	/*
	 * The file reads memory of the GPU, which may need the PRAMIN window.
	 */
	FILE_MEMORY = 2,
	/* There is nothing to read but the answer to an earlier request. */
	FILE_ANSWERS = 4,
	/* The file cannot be opened if its hardware is wired to nothing. */
	FILE_UNCONNECTED = 8,
	/* Some chips of these generations lack the file: `info` shows which. */
	FILE_OF_SOME = 16,
};

/* Generations in order of age; GM10x counts as Kepler, to which it is close. */
enum generation {
	UNKNOWN, KEPLER, MAXWELL, PASCAL, VOLTA, TURING, AMPERE, ADA, HOPPER,
	BLACKWELL,
};

struct file_kind {
	const char *name; /* '#' stands for a number */
	unsigned int mode; /* with default parameters */
	unsigned int flags;
	enum generation first, last; /* generations with the file */
	const char *feature; /* name in `info`, NULL: none */
};

extern const struct file_kind file_kinds[];
extern const size_t file_kind_count;

/* Finds the kind of a file, NULL for a file that is not documented. */
const struct file_kind *file_kind(const char *file);
bool file_is(const char *file, unsigned int flag);

/* Returns whether the module's parameters let more people read the file. */
bool file_is_state(const char *file);

/* Finds the gpu_files() that show something by themselves. */
void gpu_texts(const struct gpu *gpu, unsigned int mode, struct files *files);

/* Finds the files that change something when they are written. */
void gpu_controls(const struct gpu *gpu, struct files *files);

/* Returns whether "info" has the line "feature NAME: yes". */
bool gpu_feature(const struct gpu *gpu, const char *name);

enum generation gpu_generation(const struct gpu *gpu);
bool file_fits(const struct file_kind *kind, enum generation generation);

/* Skips the test if this generation has no such file; fails it if it should. */
void need_file(const struct gpu *gpu, const char *file);

#endif
