// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * System calls at random on every file of every GPU, by root, by a user, and by
 * a user with files that root had opened, while the models behind the
 * GPUs misbehave and GPUs and module come and go. A seed decides what each
 * process calls.
 *
 * proc_fuzz [--seed NUMBER] [--calls COUNT] [NAME]...
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "churn.h"
#include "controls.h"
#include "leaks.h"
#include "model.h"
#include "module.h"
#include "options.h"
#include "pci.h"
#include "requests.h"
#include "suite.h"
#include "tree.h"
#include "writes.h"

#define PROCESSES 6
#define SLOTS 8
#define ROOM (1 << 17)
#define TEXT_MAX 5000
#define USER 1000
#define GPUS_EVERY 4000
#define MODULE_EVERY 4000
#define FAULT_EVERY 150
#define CALL_MS 20
#define TAKEN_PERCENT 10

static unsigned long seed = 1, calls = 2000;

enum {
	OPEN, READ, WRITE, ORDER, PREAD, PWRITE, READV, WRITEV, PREADV, LSEEK,
	MMAP, IOCTL, POLL, SPLICE, SENDFILE, COPY_RANGE, FALLOCATE, FTRUNCATE,
	FSYNC, DUP, FORK, INOTIFY, FSTAT, FCNTL, FLOCK, GETDENTS, FADVISE,
	CLOSE,
	CALLS, FAULTS = CALLS, CHURNS,
};

/* Errors of any call about an argument, and of any access of the file. */
#define BAD_CALL EBADF, EFAULT, EINVAL, ESPIPE
#define NO_FILE EIO, ENODATA
/* And what a request may be refused with. */
#define REFUSED EIO, EPERM, ERANGE, E2BIG, ENOSPC, ENODEV, EBUSY, ETIMEDOUT, \
		EOPNOTSUPP

/*
 * A control's errors in docs/proc.md; EPERM is a user's, and EACCES, ENOENT and
 * the like are the path's.
 */
static const struct tally_kind kinds[] = {
	[OPEN] = { "open", { EACCES, EPERM, ENOENT, EEXIST, ENOTDIR, EISDIR,
			     EINVAL, ENODEV, EIO, EBUSY, EOPNOTSUPP, EFAULT } },
	[READ] = { "read", { BAD_CALL, NO_FILE, EISDIR } },
	[WRITE] = { "write", { BAD_CALL, REFUSED } },
	[ORDER] = { "open and write what fits", { BAD_CALL, REFUSED, EACCES,
						  ENOENT } },
	[PREAD] = { "pread", { BAD_CALL, NO_FILE, EISDIR } },
	[PWRITE] = { "pwrite", { BAD_CALL, REFUSED } },
	[READV] = { "readv", { BAD_CALL, NO_FILE, EISDIR } },
	[WRITEV] = { "writev", { BAD_CALL, REFUSED } },
	[PREADV] = { "preadv2", { BAD_CALL, NO_FILE, EISDIR, EOPNOTSUPP,
				  EAGAIN } },
	[LSEEK] = { "lseek", { EBADF, EINVAL, ESPIPE, EIO, ENXIO,
			       EOVERFLOW } },
	[MMAP] = { "mmap", { EBADF, EINVAL, EACCES, EPERM, ENODEV, EIO, ENOMEM,
			     EOVERFLOW, EOPNOTSUPP } },
	[IOCTL] = { "ioctl", { BAD_CALL, ENOTTY, EIO, ENOTDIR, EPERM, EACCES,
			       EOPNOTSUPP, EISDIR, ENXIO, EBUSY, EEXIST,
			       EXDEV, ETXTBSY } },
	[POLL] = { "poll", { 0 } },
	[SPLICE] = { "splice", { BAD_CALL, NO_FILE, EISDIR, EAGAIN } },
	[SENDFILE] = { "sendfile", { BAD_CALL, NO_FILE, EISDIR, EAGAIN,
				     EOVERFLOW } },
	[COPY_RANGE] = { "copy_file_range", { BAD_CALL, NO_FILE, EISDIR, EXDEV,
					      EOVERFLOW, EFBIG,
					      EOPNOTSUPP } },
	[FALLOCATE] = { "fallocate", { EBADF, EINVAL, ENODEV, EOPNOTSUPP, EPERM,
				       EFBIG, EISDIR } },
	[FTRUNCATE] = { "ftruncate", { EBADF, EINVAL, EPERM, EACCES, EFBIG } },
	[FSYNC] = { "fsync", { EBADF, EINVAL } },
	[DUP] = { "dup", { EBADF } },
	[FORK] = { "fork and exit", { EAGAIN } },
	[INOTIFY] = { "inotify_add_watch", { ENOENT, EACCES, EINVAL, ENOTDIR,
					     EEXIST, EBADF, ENOSYS } },
	[FSTAT] = { "fstat", { EBADF } },
	[FCNTL] = { "fcntl", { EBADF, EINVAL, EPERM, EFAULT, EAGAIN, EACCES,
			       ENOTDIR } },
	[FLOCK] = { "flock", { EBADF, EAGAIN, EINVAL } },
	[GETDENTS] = { "getdents64", { EBADF, ENOTDIR, EFAULT, EINVAL,
				       ENOENT } },
	[FADVISE] = { "posix_fadvise", { EBADF, EINVAL, ESPIPE } },
	[CLOSE] = { "close", { EBADF } },
	[FAULTS] = { "faults of models", { 0 } },
	CHURN_KINDS(CHURNS),
};

/* What a process is and has. */
struct fuzzer {
	struct rng rng;
	bool root;
	int slots[SLOTS]; /* open files, -1: none */
	int pipe[2];
	int inotify;
	char *room; /* ROOM bytes, of which the last page cannot be written */
	char text[TEXT_MAX + 1];
};

static struct tally *tally;
static struct writes *writes;
static struct files names[GPUS_MAX], readable[GPUS_MAX], writable[GPUS_MAX];
static struct named named[GPUS_MAX];
static size_t gpu_count;

/* ---- arguments ---- */

static int *any_slot(struct fuzzer *f)
{
	return &f->slots[rng_below(&f->rng, SLOTS)];
}

static int any_fd(struct fuzzer *f)
{
	for (int tries = 0; tries < SLOTS; tries++) {
		int fd = *any_slot(f);

		if (fd >= 0)
			return fd;
	}
	return -1;
}

static size_t any_size(struct fuzzer *f)
{
	static const size_t sizes[] = { 0, 1, 2, 7, 18, 255, 256, 4095, 4096,
		4097, 65536, ROOM, 1UL << 31, 1UL << 62, ~0UL };

	return rng_once_in(&f->rng, 4) ? RNG_PICK(&f->rng, sizes) :
	       rng_below(&f->rng, 5000);
}

static off_t any_offset(struct fuzzer *f)
{
	static const off_t offsets[] = { 0, 1, -1, 4096, 1L << 31, 1L << 32,
		1L << 62, INT64_MAX, INT64_MIN };

	return rng_once_in(&f->rng, 3) ? RNG_PICK(&f->rng, offsets) :
	       (off_t)rng_below(&f->rng, 20000);
}

/* Rarely one that cannot be used, or not all of it. */
static char *any_buffer(struct fuzzer *f)
{
	static char *const bad[] = { NULL, (char *)8, (char *)~0UL,
		(char *)0xffff888000001000, (char *)0xffffffff81000000,
		(char *)0x8000000000000000 };

	if (!rng_once_in(&f->rng, 8))
		return f->room;
	if (rng_once_in(&f->rng, 2))
		return f->room + ROOM - 4096 - rng_below(&f->rng, 64);
	return RNG_PICK(&f->rng, bad);
}

static const char *any_of(struct fuzzer *f, const struct files *files)
{
	return files->name[rng_below(&f->rng, files->count)];
}

static void any_path(struct fuzzer *f, char path[128])
{
	unsigned int gpu = (unsigned int)rng_below(&f->rng, gpu_count);
	const char *name = any_of(f, &names[rng_below(&f->rng, gpu_count)]);

	if (rng_once_in(&f->rng, 30))
		snprintf(path, 128, "%s/gpu%u", proc_root(), gpu);
	else if (rng_once_in(&f->rng, 60))
		snprintf(path, 128, "%s/gpu%u/%s/x", proc_root(), gpu, name);
	else
		snprintf(path, 128, "%s/gpu%u/%s", proc_root(), gpu, name);
}

/* As often as not a file that was just opened, as one would to use it. */
static int usable_fd(struct fuzzer *f, const struct files *usable, int flags)
{
	size_t gpu = rng_below(&f->rng, gpu_count);
	int *slot = any_slot(f), fd;
	char path[128];

	if (rng_once_in(&f->rng, 2))
		return any_fd(f);
	snprintf(path, sizeof(path), "%s/gpu%zu/%s", proc_root(), gpu,
		 any_of(f, &usable[gpu]));
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		return any_fd(f);
	if (*slot >= 0)
		close(*slot);
	*slot = fd;
	return fd;
}

static int fd_to_read(struct fuzzer *f)
{
	return usable_fd(f, readable, O_RDONLY);
}

static int fd_to_write(struct fuzzer *f)
{
	return usable_fd(f, writable, O_WRONLY);
}

/* ---- requests ---- */

/* A word that some control knows, or nearly. */
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

/* A request that fits the file, or did so before a GPU went. */
static size_t put_request(struct fuzzer *f, int fd, char *at)
{
	unsigned int gpu;
	char file[48];

	if (!gpu_file_of(fd, &gpu, file) || gpu >= gpu_count) {
		gpu = (unsigned int)rng_below(&f->rng, gpu_count);
		strcpy(file, any_of(f, &writable[gpu]));
	}
	return any_request(&named[gpu], &f->rng, file, at);
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

static size_t put_text(struct fuzzer *f, int fd)
{
	size_t size = 0, count;

	switch (rng_below(&f->rng, 8)) {
	case 0: /* anything */
		size = rng_below(&f->rng, TEXT_MAX);
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
	while (count-- && size < TEXT_MAX - 100) {
		size += put_word(f, f->text + size);
		f->text[size++] = rng_once_in(&f->rng, 9) ? '\n' : ' ';
	}
	if (size < TEXT_MAX / 2 && rng_once_in(&f->rng, 3))
		size = mutate(f, f->text, size);
	return size;
}

/* ---- what must hold whatever happens ---- */

static void judge_output(struct fuzzer *f, const char *text, ssize_t size)
{
	char found[17];

	if (size <= 0 || text < f->room || text + size > f->room + ROOM)
		return;
	EXPECT(!has_kernel_address(text, (size_t)size, found),
	       "an address of the kernel is shown: %s", found);
}

/* What the file was not open for did not get as far as to the module. */
static void judge_write(struct fuzzer *f, int fd, ssize_t size)
{
	EXPECT(f->root || size <= 0, "a user wrote %zd bytes", size);
	if (f->root && (size >= 0 || errno != EBADF))
		writes_count(writes, fd, size > 0);
}

/* No file is anybody's but root's to write, and not all are his to read. */
static void judge_open(struct fuzzer *f, int fd, int flags)
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

/* ---- calls ---- */

static long do_open(struct fuzzer *f)
{
	static const int more[] = { O_TRUNC, O_APPEND, O_CREAT, O_EXCL,
		O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_PATH, O_DIRECT, O_SYNC,
		O_TMPFILE, O_NOATIME, O_ASYNC, O_LARGEFILE };
	static const int modes[] = { O_RDONLY, O_WRONLY, O_RDWR, O_ACCMODE };
	int *slot = any_slot(f), flags, fd;
	char path[128];

	any_path(f, path);
	flags = O_CLOEXEC | (rng_once_in(&f->rng, 20) ? modes[3] :
			     modes[rng_below(&f->rng, 3)]);
	while (rng_once_in(&f->rng, 3))
		flags |= RNG_PICK(&f->rng, more);
	fd = open(path, flags, 0666);
	if (fd < 0)
		return fd;
	judge_open(f, fd, flags);
	if (*slot >= 0)
		close(*slot);
	*slot = fd;
	return fd;
}

static long do_read(struct fuzzer *f)
{
	char *buffer = any_buffer(f);
	ssize_t got = read(fd_to_read(f), buffer, any_size(f));

	judge_output(f, buffer, got);
	return got;
}

static long do_pread(struct fuzzer *f)
{
	char *buffer = any_buffer(f);
	ssize_t got = pread(fd_to_read(f), buffer, any_size(f), any_offset(f));

	judge_output(f, buffer, got);
	return got;
}

static const char *request(struct fuzzer *f, int fd, size_t *size)
{
	*size = rng_once_in(&f->rng, 12) ? any_size(f) : put_text(f, fd);
	if (*size <= TEXT_MAX && !rng_once_in(&f->rng, 30))
		return f->text;
	return any_buffer(f);
}

static long do_write(struct fuzzer *f)
{
	int fd = fd_to_write(f);
	size_t size;
	const char *text = request(f, fd, &size);
	ssize_t put = write(fd, text, size);

	judge_write(f, fd, put);
	return put;
}

/* What the file would take, if all were well. */
static long do_order(struct fuzzer *f)
{
	size_t gpu = rng_below(&f->rng, gpu_count), size;
	const char *file = any_of(f, &writable[gpu]);
	int *slot = any_slot(f);
	char path[128];
	ssize_t put;

	snprintf(path, sizeof(path), "%s/gpu%zu/%s", proc_root(), gpu, file);
	if (*slot >= 0)
		close(*slot);
	*slot = open(path, O_RDWR | O_CLOEXEC);
	if (*slot < 0)
		return -1;
	size = any_request(&named[gpu], &f->rng, file, f->text);
	put = write(*slot, f->text, size);
	judge_write(f, *slot, put);
	return put;
}

static long do_pwrite(struct fuzzer *f)
{
	int fd = fd_to_write(f);
	size_t size;
	const char *text = request(f, fd, &size);
	ssize_t put = pwrite(fd, text, size, any_offset(f));

	judge_write(f, fd, put);
	return put;
}

#define VECTORS 4

static int any_vectors(struct fuzzer *f, struct iovec *vectors)
{
	for (size_t i = 0; i < VECTORS; i++) {
		vectors[i].iov_base = any_buffer(f);
		vectors[i].iov_len = any_size(f) % 3000;
	}
	return (int)rng_below(&f->rng, VECTORS + 1) - rng_once_in(&f->rng, 40);
}

static long do_readv(struct fuzzer *f)
{
	struct iovec vectors[VECTORS];
	int count = any_vectors(f, vectors);
	ssize_t got = readv(fd_to_read(f), vectors, count);

	if (count > 0 && got <= (ssize_t)vectors[0].iov_len)
		judge_output(f, vectors[0].iov_base, got);
	return got;
}

static long do_preadv(struct fuzzer *f)
{
	struct iovec vectors[VECTORS];
	int count = any_vectors(f, vectors);

	return preadv2(fd_to_read(f), vectors, count, any_offset(f),
		       rng_once_in(&f->rng, 2) ? 0 :
		       (int)rng_next(&f->rng) & 0x1f);
}

static long do_writev(struct fuzzer *f)
{
	struct iovec vectors[VECTORS];
	int count = any_vectors(f, vectors), fd = fd_to_write(f);
	ssize_t put;

	vectors[0].iov_base = f->text;
	vectors[0].iov_len = put_text(f, fd);
	put = writev(fd, vectors, count);
	judge_write(f, fd, put);
	return put;
}

static long do_lseek(struct fuzzer *f)
{
	return lseek(any_fd(f), any_offset(f), (int)rng_below(&f->rng, 7));
}

static long do_mmap(struct fuzzer *f)
{
	static const int flags[] = { MAP_SHARED, MAP_PRIVATE,
		MAP_SHARED_VALIDATE, MAP_SHARED | MAP_POPULATE };
	size_t size = 1 + any_size(f) % (1 << 20);
	void *at = mmap(NULL, size, (int)rng_below(&f->rng, 8),
			RNG_PICK(&f->rng, flags), any_fd(f),
			any_offset(f) & ~4095L);

	if (at == MAP_FAILED)
		return -1;
	EXPECT(false, "a file was mapped");
	munmap(at, size);
	return 0;
}

static long do_ioctl(struct fuzzer *f)
{
	static const unsigned long requests[] = { FIONREAD, FIONBIO, FIOASYNC,
		FIOQSIZE, FIOCLEX, FIONCLEX, 1 /* FIBMAP */, 0x5401 /* TCGETS */,
		0xc020660b /* FS_IOC_FIEMAP */, 0x80086601, 0x40049409 };
	unsigned long request = rng_once_in(&f->rng, 2) ? rng_next(&f->rng) :
				RNG_PICK(&f->rng, requests);

	memset(f->room, 0, 256);
	return ioctl(any_fd(f), request, any_buffer(f));
}

static long do_poll(struct fuzzer *f)
{
	struct pollfd fds[2] = {
		{ any_fd(f), (short)rng_next(&f->rng), 0 },
		{ any_fd(f), POLLIN | POLLOUT, 0 },
	};

	return poll(fds, 2, 0);
}

/* Empties what cannot be waited for, and leaves errno alone. */
static void drain(struct fuzzer *f, int fd)
{
	int error = errno;

	while (read(fd, f->room, ROOM - 4096) > 0)
		;
	errno = error;
}

static long do_splice(struct fuzzer *f)
{
	bool in = !rng_once_in(&f->rng, 3);
	int fd = in ? fd_to_read(f) : fd_to_write(f);
	long moved;

	if (in) {
		moved = splice(fd, NULL, f->pipe[1], NULL, any_size(f),
			       SPLICE_F_NONBLOCK);
	} else {
		if (write(f->pipe[1], f->text, put_text(f, fd)) < 0)
			return 0;
		moved = splice(f->pipe[0], NULL, fd, NULL, TEXT_MAX,
			       SPLICE_F_NONBLOCK);
		judge_write(f, fd, moved);
	}
	drain(f, f->pipe[0]);
	return moved;
}

static long do_sendfile(struct fuzzer *f)
{
	off_t offset = any_offset(f);
	long moved = sendfile(f->pipe[1], any_fd(f),
			      rng_once_in(&f->rng, 2) ? &offset : NULL,
			      any_size(f));

	drain(f, f->pipe[0]);
	return moved;
}

static long do_copy_range(struct fuzzer *f)
{
	return copy_file_range(any_fd(f), NULL, any_fd(f), NULL, any_size(f),
			       0);
}

static long do_fallocate(struct fuzzer *f)
{
	return fallocate(any_fd(f), (int)rng_below(&f->rng, 0x80),
			 any_offset(f), any_offset(f));
}

static long do_ftruncate(struct fuzzer *f)
{
	return ftruncate(any_fd(f), any_offset(f));
}

static long do_fsync(struct fuzzer *f)
{
	return rng_once_in(&f->rng, 2) ? fsync(any_fd(f)) :
	       fdatasync(any_fd(f));
}

static long do_dup(struct fuzzer *f)
{
	int *slot = any_slot(f), fd = dup(any_fd(f));

	if (fd < 0)
		return fd;
	if (*slot >= 0)
		close(*slot);
	*slot = fd;
	return fd;
}

/* The child has all that is open, and maybe goes with a call under way. */
static long do_fork(struct fuzzer *f)
{
	int pid = fork(), status;

	if (pid < 0)
		return pid;
	if (!pid) {
		if (rng_once_in(&f->rng, 2))
			do_write(f);
		_exit(0);
	}
	if (rng_once_in(&f->rng, 2))
		kill(pid, SIGKILL);
	return waitpid(pid, &status, 0);
}

static long do_inotify(struct fuzzer *f)
{
	char path[128];
	int watch;

	any_path(f, path);
	watch = inotify_add_watch(f->inotify, path, (uint32_t)
				  rng_next(&f->rng) & (IN_ALL_EVENTS |
				  IN_ONLYDIR | IN_DONT_FOLLOW | IN_ONESHOT));
	drain(f, f->inotify);
	if (watch >= 0 && rng_once_in(&f->rng, 2))
		inotify_rm_watch(f->inotify, watch);
	return watch;
}

static long do_fstat(struct fuzzer *f)
{
	struct stat status;

	return fstat(any_fd(f), &status);
}

/* The kernel lets open() wait 45 s for whoever keeps a file lease. */
static long do_fcntl(struct fuzzer *f)
{
	static const int commands[] = { F_GETFL, F_GETFD, F_GETPIPE_SZ,
		F_GET_SEALS, F_ADD_SEALS, F_GETLEASE, F_SETLEASE, F_NOTIFY,
		F_GET_RW_HINT };
	int command = RNG_PICK(&f->rng, commands), fd = any_fd(f);
	long result;

	if (command == F_GET_RW_HINT)
		return fcntl(fd, command, any_buffer(f));
	result = fcntl(fd, command, (int)rng_below(&f->rng, 3));
	if (command == F_SETLEASE && !result)
		fcntl(fd, F_SETLEASE, F_UNLCK);
	return result;
}

static long do_flock(struct fuzzer *f)
{
	return flock(any_fd(f), (int)rng_below(&f->rng, 16) | LOCK_NB);
}

static long do_getdents(struct fuzzer *f)
{
	return syscall(SYS_getdents64, any_fd(f), any_buffer(f),
		       any_size(f) % ROOM);
}

static long do_fadvise(struct fuzzer *f)
{
	errno = posix_fadvise(any_fd(f), any_offset(f), any_offset(f),
			      (int)rng_below(&f->rng, 8));
	return errno ? -1 : 0;
}

static long do_close(struct fuzzer *f)
{
	int *slot = any_slot(f), fd = *slot;

	*slot = -1;
	return close(fd);
}

/* How often, compared with the others. */
static const struct {
	long (*run)(struct fuzzer *f);
	unsigned int weight;
} call_table[CALLS] = {
	[OPEN] = { do_open, 30 }, [READ] = { do_read, 10 },
	[WRITE] = { do_write, 15 }, [ORDER] = { do_order, 25 },
	[PREAD] = { do_pread, 6 },
	[PWRITE] = { do_pwrite, 6 }, [READV] = { do_readv, 4 },
	[WRITEV] = { do_writev, 6 }, [PREADV] = { do_preadv, 4 },
	[LSEEK] = { do_lseek, 6 }, [MMAP] = { do_mmap, 3 },
	[IOCTL] = { do_ioctl, 3 }, [POLL] = { do_poll, 3 },
	[SPLICE] = { do_splice, 4 }, [SENDFILE] = { do_sendfile, 3 },
	[COPY_RANGE] = { do_copy_range, 3 }, [FALLOCATE] = { do_fallocate, 2 },
	[FTRUNCATE] = { do_ftruncate, 2 }, [FSYNC] = { do_fsync, 1 },
	[DUP] = { do_dup, 3 }, [FORK] = { do_fork, 1 },
	[INOTIFY] = { do_inotify, 2 }, [FSTAT] = { do_fstat, 2 },
	[FCNTL] = { do_fcntl, 2 }, [FLOCK] = { do_flock, 2 },
	[GETDENTS] = { do_getdents, 2 }, [FADVISE] = { do_fadvise, 1 },
	[CLOSE] = { do_close, 4 },
};

static size_t any_call(struct fuzzer *f)
{
	size_t total = 0, call = 0, left;

	for (size_t i = 0; i < CALLS; i++)
		total += call_table[i].weight;
	left = rng_below(&f->rng, total);
	while (left >= call_table[call].weight)
		left -= call_table[call++].weight;
	return call;
}

/* ---- processes ---- */

static void open_as_root(struct fuzzer *f)
{
	for (size_t i = 0; i < SLOTS; i++) {
		char path[128];

		any_path(f, path);
		f->slots[i] = open(path, O_RDWR | O_CLOEXEC);
		if (f->slots[i] < 0)
			f->slots[i] = open(path, O_WRONLY | O_CLOEXEC);
	}
}

static void become_user(void)
{
	ASSERT(!setgroups(0, NULL) && !setresgid(USER, USER, USER) &&
	       !setresuid(USER, USER, USER), "becoming a user: %s",
	       strerror(errno));
}

static void fuzzer_begin(struct fuzzer *f, size_t number)
{
	memset(f, 0, sizeof(*f));
	f->rng = rng_of(seed, number);
	f->root = number % 2 == 0;
	for (size_t i = 0; i < SLOTS; i++)
		f->slots[i] = -1;
	f->room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	f->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	/* a small kernel has no inotify */
	ASSERT(f->room != MAP_FAILED && (f->inotify >= 0 || errno == ENOSYS) &&
	       !mprotect(f->room + ROOM - 4096, 4096, PROT_READ) &&
	       !pipe2(f->pipe, O_NONBLOCK | O_CLOEXEC), "no means to fuzz: %s",
	       strerror(errno));
	/* what leases and watches of folders send */
	ASSERT(signal(SIGIO, SIG_IGN) != SIG_ERR, "signal: %s",
	       strerror(errno));
	/* every other user was handed files that he could not open */
	if (number % 4 == 1)
		open_as_root(f);
	if (!f->root)
		become_user();
}

static void fuzz(size_t number)
{
	static struct fuzzer f;

	fuzzer_begin(&f, number);
	for (unsigned long i = 0; i < calls; i++) {
		size_t call = any_call(&f);
		long result = call_table[call].run(&f);
		/* GPU or module have gone: nearly all calls would be like this one */
		bool gone = result < 0 && errno == ENOENT;

		tally_call(tally, call, result);
		if (gone)
			nap();
	}
}

static void any_fault(struct rng *rng, char *fault, size_t size)
{
	static const char *const forms[] = { "random %llu 0.001",
		"random %llu 0.05", "all-ones-after %llu 500", "pri-error",
		"all-ones", "move-runlist 0 %llu", "rotate-runlist 0 %llu",
		"move-window %llu", "freeze-after %llu 50000",
		"lose-writes-after %llu 10", "wrong-after %llu 0xbadf1100 3" };

	snprintf(fault, size, RNG_PICK(rng, forms),
		 (unsigned long long)(1 + rng_below(rng, 1000)));
}

static int start_faults(const int *models)
{
	struct rng rng = rng_of(seed, 2000);
	unsigned long turn = 0;
	int pid = ktap_fork();

	if (pid)
		return pid;
	while (!tally_has_ended(tally)) {
		int model = models[rng_below(&rng, gpu_count)];
		char fault[80];

		if (tally_total(tally) < turn) {
			nap();
			continue;
		}
		turn = tally_total(tally) + rng_below(&rng, FAULT_EVERY);
		model_ask(model, "fault none");
		model_ask(model, "corrupt undo");
		/* or nearly all that is asked for would be refused at once */
		if (rng_once_in(&rng, 2))
			continue;
		if (rng_once_in(&rng, 5))
			model_ask(model, "corrupt %zu",
				  rng_below(&rng, 100000));
		any_fault(&rng, fault, sizeof(fault));
		model_ask(model, "fault %s", fault);
		tally_count(tally, FAULTS, 0);
	}
	ktap_end();
}

/* ---- all of it ---- */

/* What each file shows that stands still; malloc()ed. */
static char *read_all(const struct gpu *gpu, const int model)
{
	static struct files files;
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	ASSERT(out, "no memory for a GPU's files");
	model_ask(model, "fault none");
	model_ask(model, "corrupt undo");
	model_ask(model, "restart");
	gpu_texts(gpu, 0400, &files);
	for (size_t i = 0; i < files.count; i++) {
		char *one;

		if (file_is(files.name[i], FILE_MOVES))
			continue;
		one = gpu_read(gpu, files.name[i], NULL);
		EXPECT(one || file_is(files.name[i], FILE_UNCONNECTED),
		       "%s/%s: %s", gpu->name, files.name[i], strerror(errno));
		fprintf(out, "%s:\n%s", files.name[i], one ? one : "-\n");
		free(one);
	}
	fclose(out);
	return text;
}

static void run_crowd(const struct gpu *gpus, const int *models)
{
	const struct churn churn = {
		.removed = CHURNS, .rescanned = CHURNS + 1,
		.unloaded = CHURNS + 2, .loaded = CHURNS + 3,
		.tally = tally, .seed = seed,
	};
	struct churn of_gpus = churn, of_module = churn;
	int pids[PROCESSES], others[3];

	of_gpus.every = GPUS_EVERY;
	of_module.every = MODULE_EVERY;
	others[0] = start_faults(models);
	others[1] = churn_start_gpus(&of_gpus, gpus);
	others[2] = churn_start_module(&of_module);
	for (size_t i = 0; i < PROCESSES; i++) {
		pids[i] = ktap_fork();
		if (pids[i])
			continue;
		fuzz(i);
		ktap_end();
	}
	for (size_t i = 0; i < PROCESSES; i++)
		ktap_wait(pids[i]);
	tally_end(tally);
	for (size_t i = 0; i < 3; i++)
		ktap_wait(others[i]);
}

static void test_calls(const struct gpu *gpus)
{
	char *before[GPUS_MAX];
	int models[GPUS_MAX];

	module_need();
	/* a process that hangs must not be waited for without end */
	ktap_alarm(300 + calls * CALL_MS * PROCESSES / 1000);
	for (gpu_count = 0; gpus[gpu_count].name[0]; gpu_count++) {
		const struct gpu *gpu = &gpus[gpu_count];

		models[gpu_count] = model_open(gpu);
		gpu_files(gpu, 0, &names[gpu_count]);
		gpu_files(gpu, 0400, &readable[gpu_count]);
		gpu_files(gpu, 0200, &writable[gpu_count]);
		before[gpu_count] = read_all(gpu, models[gpu_count]);
		named[gpu_count] = named_read(gpu);
	}
	tally = tally_make(kinds, sizeof(kinds) / sizeof(*kinds));
	writes = writes_make();
	ktap_note("seed %lu, %u processes of %lu calls", seed, PROCESSES,
		  calls);
	run_crowd(gpus, models);
	tally_note(tally);
	EXPECT(writes_note(writes) >= TAKEN_PERCENT, "too little was taken to "
	       "get far");

	for (size_t i = 0; i < gpu_count; i++)
		model_ask(models[i], "fault none");
	module_must_unload();
	/* a GPU that did not answer when it was found has no folder */
	module_must_load("");
	for (size_t i = 0; i < gpu_count; i++) {
		char *after = read_all(&gpus[i], models[i]);

		EXPECT(!strcmp(before[i], after),
		       "%s does not show what it did before", gpus[i].name);
		if (strcmp(before[i], after))
			ktap_note_difference(before[i], after);
		free(after);
	}
}

static const struct suite_test tests[] = {
	{ "calls", "system calls at random on every file", test_calls,
	  SUITE_ALL },
};

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "--seed", &seed }, { "--calls", &calls },
	};

	argc = OPTIONS_TAKE(argc, argv, options);
	return SUITE_MAIN(argc, argv, tests);
}
