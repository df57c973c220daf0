/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* A process that fuzzes: its open files, and the arguments of its calls. */
#ifndef FUZZER_H
#define FUZZER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "gpus.h"
#include "random.h"
#include "requests.h"
#include "tree.h"
#include "writes.h"

#define FUZZ_SLOTS 8
#define FUZZ_ROOM (1 << 17)
#define FUZZ_TEXT 5000

/* The files of all GPUs. */
struct fuzz_files {
	struct files names[GPUS_MAX], readable[GPUS_MAX], writable[GPUS_MAX];
	struct named named[GPUS_MAX];
	size_t gpus;
	struct writes *writes;
};

/* The state of a process. */
struct fuzzer {
	const struct fuzz_files *files;
	struct rng rng;
	bool root;
	int slots[FUZZ_SLOTS]; /* open files, -1: none */
	int pipe[2];
	int inotify;
	/* FUZZ_ROOM bytes, of which the last page cannot be written. */
	char *room;
	char text[FUZZ_TEXT + 1];
};

int *fuzz_slot(struct fuzzer *f);
int fuzz_fd(struct fuzzer *f);
size_t fuzz_size(struct fuzzer *f);
off_t fuzz_offset(struct fuzzer *f);
/* Returns a buffer. Rarely it cannot be used, or only in part. */
char *fuzz_buffer(struct fuzzer *f);
const char *fuzz_file(struct fuzzer *f, const struct files *files);
void fuzz_path(struct fuzzer *f, char path[128]);
/* Return, half of the time, a file that was just opened for its proper use. */
int fuzz_fd_to_read(struct fuzzer *f);
int fuzz_fd_to_write(struct fuzzer *f);
/* Puts a request, or nearly a request, into f->text; returns its size. */
size_t fuzz_text(struct fuzzer *f, int fd);

/* Fail the test if a rule is broken that holds whatever happens. */
void fuzz_judge_output(struct fuzzer *f, const char *text, ssize_t size);
void fuzz_judge_write(struct fuzzer *f, int fd, ssize_t size);
void fuzz_judge_open(struct fuzzer *f, int fd, int flags);

#endif
