/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The /proc/gpuX folders as tests see them. The tree's root is /proc, or what
 * the environment variable NVDEBUG_PROC names, to try tests on a copy.
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
	bool in_tsg; /* in that of the id `tsg` */
	unsigned int tsg;
	char compute[8]; /* mode of preemption, "" without a context of its own */
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

/* "/proc", without the variable. */
const char *proc_root(void);

/* All GPUs in order of number, with an empty one behind the last. */
size_t gpus_find(struct gpu gpus[GPUS_MAX + 1]);

/* Reads all from where the file stands: malloc()ed with a 0 at its end, or NULL. */
char *read_to_end(int fd, size_t *size);

int gpu_open(const struct gpu *gpu, const char *file, int flags);
bool gpu_has(const struct gpu *gpu, const char *file);
char *gpu_read(const struct gpu *gpu, const char *file, size_t *size);

/*
 * Which GPU's, by its number, and which file that descriptor is of; false if it
 * is of none. Leaves errno alone.
 */
bool gpu_file_of(int fd, unsigned int *gpu, char file[48]);

/* All files in order of name; or those that have the mode bits `mode`. */
void gpu_files(const struct gpu *gpu, unsigned int mode, struct files *files);

/* The value of `key` in "info", "" if it has none. */
void gpu_info(const struct gpu *gpu, const char *key, char value[VALUE_MAX]);
/* Where it is on PCI, or what an SoC's GPU is shown through; "" if nowhere. */
void gpu_pci_address(const struct gpu *gpu, char value[VALUE_MAX]);
bool gpu_ids_are_global(const struct gpu *gpu);

/* Appends the channels of a runlistY file's text that have an enable bit. */
void runlist_channels(const char *text, unsigned int runlist,
		      struct channels *channels);

/* Appends its TSGs, as often as the list has them. */
void runlist_tsgs(const char *text, unsigned int runlist, struct tsgs *tsgs);

/*
 * What stays the same in a runlistY file while the GPU works: the titles, and
 * the fields that only a driver or a control changes. malloc()ed.
 */
char *runlist_skeleton(const char *text);

/* The runlists a GPU has files for, in order of name; returns how many. */
size_t gpu_runlists(const struct gpu *gpu, unsigned int *runlists, size_t max);

/* Read now; these end the test if a runlist cannot be read. */
char *gpu_runlist(const struct gpu *gpu, unsigned int runlist);
struct channels gpu_channels(const struct gpu *gpu); /* of all runlists */
struct tsgs gpu_tsgs(const struct gpu *gpu);

/* The same channel, in whatever state? */
bool channels_match(const struct channel *a, const struct channel *b);

/*
 * The one that `channel` names in `channels`, NULL if there is none. (A list may
 * name it several times.)
 */
struct channel *channels_find(const struct channels *channels,
			      const struct channel *channel);

/* The same channels in the same state? Notes what differs. */
bool channels_same(const struct channels *a, const struct channels *b);

#endif
