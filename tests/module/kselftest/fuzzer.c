// SPDX-License-Identifier: MIT OR GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzzer.h"
#include "ktap.h"
#include "leaks.h"
#include "suite.h"

/* ---- arguments ---- */

int *fuzz_slot(struct fuzzer *f)
{
	return &f->slots[rng_below(&f->rng, FUZZ_SLOTS)];
}

int fuzz_fd(struct fuzzer *f)
{
	for (int tries = 0; tries < FUZZ_SLOTS; tries++) {
		int fd = *fuzz_slot(f);

		if (fd >= 0)
			return fd;
	}
	return -1;
}

size_t fuzz_size(struct fuzzer *f)
{
	static const size_t sizes[] = { 0, 1, 2, 7, 18, 255, 256, 4095, 4096,
		4097, 65536, FUZZ_ROOM, 1UL << 31, 1UL << 62, ~0UL };

	return rng_once_in(&f->rng, 4) ? RNG_PICK(&f->rng, sizes) :
	       rng_below(&f->rng, 5000);
}

off_t fuzz_offset(struct fuzzer *f)
{
	static const off_t offsets[] = { 0, 1, -1, 4096, 1L << 31, 1L << 32,
		1L << 62, INT64_MAX, INT64_MIN };

	return rng_once_in(&f->rng, 3) ? RNG_PICK(&f->rng, offsets) :
	       (off_t)rng_below(&f->rng, 20000);
}

/* Returns a buffer. Rarely it cannot be used, or only in part. */
char *fuzz_buffer(struct fuzzer *f)
{
	static char *const bad[] = { NULL, (char *)8, (char *)~0UL,
		(char *)0xffff888000001000, (char *)0xffffffff81000000,
		(char *)0x8000000000000000 };

	if (!rng_once_in(&f->rng, 8))
		return f->room;
	if (rng_once_in(&f->rng, 2))
		return f->room + FUZZ_ROOM - 4096 - rng_below(&f->rng, 64);
	return RNG_PICK(&f->rng, bad);
}

const char *fuzz_file(struct fuzzer *f, const struct files *files)
{
	return files->name[rng_below(&f->rng, files->count)];
}

void fuzz_path(struct fuzzer *f, char path[128])
{
	unsigned int gpu = (unsigned int)rng_below(&f->rng, f->files->gpus);
	size_t of = rng_below(&f->rng, f->files->gpus);
	const char *name = fuzz_file(f, &f->files->names[of]);

	if (rng_once_in(&f->rng, 30))
		snprintf(path, 128, "%s/gpu%u", proc_root(), gpu);
	else if (rng_once_in(&f->rng, 60))
		snprintf(path, 128, "%s/gpu%u/%s/x", proc_root(), gpu, name);
	else
		snprintf(path, 128, "%s/gpu%u/%s", proc_root(), gpu, name);
}

/* Returns, half of the time, a file that was just opened for its proper use. */
static int usable_fd(struct fuzzer *f, const struct files *usable, int flags)
{
	size_t gpu = rng_below(&f->rng, f->files->gpus);
	int *slot = fuzz_slot(f), fd;
	char path[128];

	if (rng_once_in(&f->rng, 2))
		return fuzz_fd(f);
	snprintf(path, sizeof(path), "%s/gpu%zu/%s", proc_root(), gpu,
		 fuzz_file(f, &usable[gpu]));
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		return fuzz_fd(f);
	if (*slot >= 0)
		close(*slot);
	*slot = fd;
	return fd;
}

int fuzz_fd_to_read(struct fuzzer *f)
{
	return usable_fd(f, f->files->readable, O_RDONLY);
}

int fuzz_fd_to_write(struct fuzzer *f)
{
	return usable_fd(f, f->files->writable, O_WRONLY);
}

/* ---- requests ---- */

/* Puts a word that some control takes, or nearly such a word. */
static size_t put_word(struct fuzzer *f, char *at)
{
	static const char *const words[] = { "lease", "on", "off", "wfi", "cta",
		"cilp", "base", "v1", "v2", "64k", "128k", "0x200000", "1.024",
		"8556380.160", "2000", "-1", "4294967296", "0x", "1e3", ":",
		"18446744073709551616", "lease lease" };
	struct rng *rng = &f->rng;

	switch (rng_below(rng, 5)) {
	case 0:
		return (size_t)sprintf(at, "%s", RNG_PICK(rng, words));
	case 1:
		return (size_t)sprintf(at, "%zu", rng_below(rng, 10));
	case 2:
		return (size_t)sprintf(at, "%zu:%zu", rng_below(rng, 3),
				       rng_below(rng, 8));
	case 3:
		return (size_t)sprintf(at, "0x%llx:%s",
				       (unsigned long long)rng_next(rng) >>
				       rng_below(rng, 64),
				       rng_once_in(rng, 2) ? "vid" : "coh");
	default:
		return (size_t)sprintf(at, "%llu",
				       (unsigned long long)rng_next(rng) >>
				       rng_below(rng, 64));
	}
}

/* Puts a request that fits the file, or did so before a GPU went. */
static size_t put_request(struct fuzzer *f, int fd, char *at)
{
	unsigned int gpu;
	char file[48];

	if (!gpu_file_of(fd, &gpu, file) || gpu >= f->files->gpus) {
		gpu = (unsigned int)rng_below(&f->rng, f->files->gpus);
		strcpy(file, fuzz_file(f, &f->files->writable[gpu]));
	}
	return any_request(&f->files->named[gpu], &f->rng, file, at);
}

static size_t mutate(struct fuzzer *f, char *text, size_t size)
{
	size_t at = rng_below(&f->rng, size + 1);

	switch (rng_below(&f->rng, 4)) {
	case 0: /* a byte becomes another */
		text[at] = (char)rng_next(&f->rng);
		return size + (at == size);
	case 1: /* the end is lost */
		return at;
	case 2: /* a piece comes again */
		memmove(text + size, text + at, size - at);
		return 2 * size - at;
	default: /* a byte goes */
		if (at < size)
			memmove(text + at, text + at + 1, size - at - 1);
		return size - (at < size);
	}
}

size_t fuzz_text(struct fuzzer *f, int fd)
{
	size_t size = 0, count;

	switch (rng_below(&f->rng, 8)) {
	case 0: /* anything */
		size = rng_below(&f->rng, FUZZ_TEXT);
		for (size_t i = 0; i < size; i++)
			f->text[i] = (char)rng_next(&f->rng);
		return size;
	case 1: /* very many words */
		count = rng_below(&f->rng, 400);
		break;
	case 2:
	case 3:
		count = 1 + rng_below(&f->rng, 4);
		break;
	default:
		size = put_request(f, fd, f->text);
		count = 0;
	}
	while (count-- && size < FUZZ_TEXT - 100) {
		size += put_word(f, f->text + size);
		f->text[size++] = rng_once_in(&f->rng, 9) ? '\n' : ' ';
	}
	if (size < FUZZ_TEXT / 2 && rng_once_in(&f->rng, 3))
		size = mutate(f, f->text, size);
	return size;
}

/* ---- rules that hold whatever happens ---- */

void fuzz_judge_output(struct fuzzer *f, const char *text, ssize_t size)
{
	char found[17];

	if (size <= 0 || text < f->room || text + size > f->room + FUZZ_ROOM)
		return;
	EXPECT(!has_kernel_address(text, (size_t)size, found),
	       "an address of the kernel is shown: %s", found);
}

/*
 * Judges a write. A write to a file that is not open for it (EBADF) does not
 * get as far as the module, so it is not counted.
 */
void fuzz_judge_write(struct fuzzer *f, int fd, ssize_t size)
{
	EXPECT(f->root || size <= 0, "a user wrote %zd bytes", size);
	if (f->root && (size >= 0 || errno != EBADF))
		writes_count(f->files->writes, fd, size > 0);
}

/*
 * Judges an open: only root may write to files, and users may read some of
 * them.
 */
void fuzz_judge_open(struct fuzzer *f, int fd, int flags)
{
	int access_mode = flags & O_ACCMODE;
	struct stat status;

	if (f->root || flags & O_PATH || fstat(fd, &status))
		return;
	EXPECT(access_mode == O_RDONLY || S_ISDIR(status.st_mode),
	       "a user opened a file to write to it");
	EXPECT(status.st_mode & 0004, "a user opened a file of mode %o",
	       status.st_mode & 07777);
}
