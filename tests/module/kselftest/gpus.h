/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The /proc/gpuX folders as tests see them. The tree's root is /proc or, to try
 * tests on a copy, the folder that the environment variable NVDEBUG_PROC names.
 */
#ifndef GPUS_H
#define GPUS_H

#include <stdbool.h>
#include <stddef.h>

#define GPUS_MAX 64
#define FILES_MAX 256
#define VALUE_MAX 512
#define RUNLISTS_MAX 64

struct gpu {
	char name[16]; /* "gpu0"; empty after the last of an array */
	char folder[200];
};

struct files {
	char name[FILES_MAX][48];
	size_t count;
};

struct channel {
	unsigned int runlist;
	unsigned int id;
	bool enabled;
	bool in_tsg; /* it belongs to the TSG with the id `tsg` */
	unsigned int tsg;
	/* Mode of preemption, "" without a context of its own. */
	char compute[8];
};

struct tsg {
	unsigned int runlist;
	unsigned int id;
	unsigned int timeout;
	unsigned int scale;
	char timeslice[24]; /* in microseconds */
};

struct tsgs {
	struct tsg *at; /* malloc()ed */
	size_t count;
};

struct channels {
	struct channel *at; /* malloc()ed */
	size_t count;
};

/* Returns the tree's root. */
const char *proc_root(void);

/* Finds all GPUs, in order of number. The array ends with an empty one. */
size_t gpus_find(struct gpu gpus[GPUS_MAX + 1]);

/*
 * Reads from the present offset to the end: malloc()ed with a 0 at its end, or
 * NULL.
 */
char *read_to_end(int fd, size_t *size);

int gpu_open(const struct gpu *gpu, const char *file, int flags);
bool gpu_has(const struct gpu *gpu, const char *file);
char *gpu_read(const struct gpu *gpu, const char *file, size_t *size);

/*
 * Finds the number of the GPU and the name of the file that the descriptor is
 * open on. Returns false for another file. Leaves errno alone.
 */
bool gpu_file_of(int fd, unsigned int *gpu, char file[48]);

/*
 * Finds all files, in order of name, or only those with the mode bits `mode`.
 */
void gpu_files(const struct gpu *gpu, unsigned int mode, struct files *files);

/* Finds the value of `key` in "info", "" if it has none. */
void gpu_info(const struct gpu *gpu, const char *key, char value[VALUE_MAX]);
/*
 * Finds the GPU's address on PCI, or that of the device that shows an SoC's
 * GPU; "" if it has none.
 */
void gpu_pci_address(const struct gpu *gpu, char value[VALUE_MAX]);
bool gpu_ids_are_global(const struct gpu *gpu);

/* Appends the channels of a runlistY file's text that have an enable bit. */
void runlist_channels(const char *text, unsigned int runlist,
		      struct channels *channels);

/* Appends the TSGs of a runlistY file's text, as often as the list has them. */
void runlist_tsgs(const char *text, unsigned int runlist, struct tsgs *tsgs);

/*
 * Returns the part of a runlistY file that stays the same while the GPU works:
 * the titles, and the fields that only a driver or a control changes.
 * malloc()ed.
 */
char *runlist_skeleton(const char *text);

/*
 * Finds the runlists a GPU has files for, in order of name; returns their
 * number.
 */
size_t gpu_runlists(const struct gpu *gpu, unsigned int *runlists, size_t max);

/* Read the runlists now. They end the test if a runlist cannot be read. */
char *gpu_runlist(const struct gpu *gpu, unsigned int runlist);
struct channels gpu_channels(const struct gpu *gpu); /* on all runlists */
struct tsgs gpu_tsgs(const struct gpu *gpu);

/* Returns whether they are the same channel, in any state. */
bool channels_match(const struct channel *a, const struct channel *b);

/*
 * Finds the entry of `channel` in `channels`, NULL if there is none. (A list
 * may name a channel several times.)
 */
struct channel *channels_find(const struct channels *channels,
			      const struct channel *channel);

/*
 * Returns whether the same channels are in the same state. Notes the
 * differences.
 */
bool channels_same(const struct channels *a, const struct channels *b);

#endif
