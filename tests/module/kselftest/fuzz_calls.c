// SPDX-License-Identifier: MIT OR GPL-2.0
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz_calls.h"
#include "ktap.h"
#include "suite.h"

enum {
	OPEN, READ, WRITE, ORDER, PREAD, PWRITE, READV, WRITEV, PREADV, LSEEK,
	MMAP, IOCTL, POLL, SPLICE, SENDFILE, COPY_RANGE, FALLOCATE, FTRUNCATE,
	FSYNC, DUP, FORK, INOTIFY, FSTAT, FCNTL, FLOCK, GETDENTS, FADVISE,
	CLOSE,
	CALLS,
};
_Static_assert((int)CALLS == FUZZ_CALLS, "as many kinds as calls");

/*
 * Errors of any call about an argument, and of any access to a file that has
 * gone.
 */
#define BAD_CALL EBADF, EFAULT, EINVAL, ESPIPE
#define NO_FILE EIO, ENODATA
/* Errors with which a request may be refused. */
#define REFUSED EIO, EPERM, ERANGE, E2BIG, ENOSPC, ENODEV, EBUSY, ETIMEDOUT, \
		EOPNOTSUPP, ENOTRECOVERABLE

/*
 * The errors of controls are those in docs/proc.md. In addition, users get
 * EPERM, and paths cause EACCES, ENOENT and the like.
 */
const struct tally_kind fuzz_kinds[FUZZ_KINDS] = {
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
	[FUZZ_FAULTS] = { "faults of models", { 0 } },
	CHURN_KINDS(FUZZ_CHURNS),
};

static long do_open(struct fuzzer *f)
{
	static const int more[] = { O_TRUNC, O_APPEND, O_CREAT, O_EXCL,
		O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_PATH, O_DIRECT, O_SYNC,
		O_TMPFILE, O_NOATIME, O_ASYNC, O_LARGEFILE };
	static const int modes[] = { O_RDONLY, O_WRONLY, O_RDWR, O_ACCMODE };
	int *slot = fuzz_slot(f), flags, fd;
	char path[128];

	fuzz_path(f, path);
	flags = O_CLOEXEC | (rng_once_in(&f->rng, 20) ? modes[3] :
			     modes[rng_below(&f->rng, 3)]);
	while (rng_once_in(&f->rng, 3))
		flags |= RNG_PICK(&f->rng, more);
	fd = open(path, flags, 0666);
	if (fd < 0)
		return fd;
	fuzz_judge_open(f, fd, flags);
	if (*slot >= 0)
		close(*slot);
	*slot = fd;
	return fd;
}

static long do_read(struct fuzzer *f)
{
	char *buffer = fuzz_buffer(f);
	ssize_t got = read(fuzz_fd_to_read(f), buffer, fuzz_size(f));

	fuzz_judge_output(f, buffer, got);
	return got;
}

static long do_pread(struct fuzzer *f)
{
	char *buffer = fuzz_buffer(f);
	ssize_t got = pread(fuzz_fd_to_read(f), buffer, fuzz_size(f),
			    fuzz_offset(f));

	fuzz_judge_output(f, buffer, got);
	return got;
}

static const char *request(struct fuzzer *f, int fd, size_t *size)
{
	*size = rng_once_in(&f->rng, 12) ? fuzz_size(f) : fuzz_text(f, fd);
	if (*size <= FUZZ_TEXT && !rng_once_in(&f->rng, 30))
		return f->text;
	return fuzz_buffer(f);
}

static long do_write(struct fuzzer *f)
{
	int fd = fuzz_fd_to_write(f);
	size_t size;
	const char *text = request(f, fd, &size);
	ssize_t put = write(fd, text, size);

	fuzz_judge_write(f, fd, put);
	return put;
}

/* Writes a request that the file would take, if all were well. */
static long do_order(struct fuzzer *f)
{
	size_t gpu = rng_below(&f->rng, f->files->gpus), size;
	const char *file = fuzz_file(f, &f->files->writable[gpu]);
	int *slot = fuzz_slot(f);
	char path[128];
	ssize_t put;

	snprintf(path, sizeof(path), "%s/gpu%zu/%s", proc_root(), gpu, file);
	if (*slot >= 0)
		close(*slot);
	*slot = open(path, O_RDWR | O_CLOEXEC);
	if (*slot < 0)
		return -1;
	size = any_request(&f->files->named[gpu], &f->rng, file, f->text);
	put = write(*slot, f->text, size);
	fuzz_judge_write(f, *slot, put);
	return put;
}

static long do_pwrite(struct fuzzer *f)
{
	int fd = fuzz_fd_to_write(f);
	size_t size;
	const char *text = request(f, fd, &size);
	ssize_t put = pwrite(fd, text, size, fuzz_offset(f));

	fuzz_judge_write(f, fd, put);
	return put;
}

#define VECTORS 4

static int any_vectors(struct fuzzer *f, struct iovec *vectors)
{
	for (size_t i = 0; i < VECTORS; i++) {
		vectors[i].iov_base = fuzz_buffer(f);
		vectors[i].iov_len = fuzz_size(f) % 3000;
	}
	return (int)rng_below(&f->rng, VECTORS + 1) - rng_once_in(&f->rng, 40);
}

static long do_readv(struct fuzzer *f)
{
	struct iovec vectors[VECTORS];
	int count = any_vectors(f, vectors);
	ssize_t got = readv(fuzz_fd_to_read(f), vectors, count);

	if (count > 0 && got <= (ssize_t)vectors[0].iov_len)
		fuzz_judge_output(f, vectors[0].iov_base, got);
	return got;
}

static long do_preadv(struct fuzzer *f)
{
	struct iovec vectors[VECTORS];
	int count = any_vectors(f, vectors);

	return preadv2(fuzz_fd_to_read(f), vectors, count, fuzz_offset(f),
		       rng_once_in(&f->rng, 2) ? 0 :
		       (int)rng_next(&f->rng) & 0x1f);
}

static long do_writev(struct fuzzer *f)
{
	struct iovec vectors[VECTORS];
	int count = any_vectors(f, vectors), fd = fuzz_fd_to_write(f);
	ssize_t put;

	vectors[0].iov_base = f->text;
	vectors[0].iov_len = fuzz_text(f, fd);
	put = writev(fd, vectors, count);
	fuzz_judge_write(f, fd, put);
	return put;
}

static long do_lseek(struct fuzzer *f)
{
	return lseek(fuzz_fd(f), fuzz_offset(f), (int)rng_below(&f->rng, 7));
}

static long do_mmap(struct fuzzer *f)
{
	static const int flags[] = { MAP_SHARED, MAP_PRIVATE,
		MAP_SHARED_VALIDATE, MAP_SHARED | MAP_POPULATE };
	size_t size = 1 + fuzz_size(f) % (1 << 20);
	void *at = mmap(NULL, size, (int)rng_below(&f->rng, 8),
			RNG_PICK(&f->rng, flags), fuzz_fd(f),
			fuzz_offset(f) & ~4095L);

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
	return ioctl(fuzz_fd(f), request, fuzz_buffer(f));
}

static long do_poll(struct fuzzer *f)
{
	struct pollfd fds[2] = {
		{ fuzz_fd(f), (short)rng_next(&f->rng), 0 },
		{ fuzz_fd(f), POLLIN | POLLOUT, 0 },
	};

	return poll(fds, 2, 0);
}

/* Empties a descriptor that does not block, and leaves errno alone. */
static void drain(struct fuzzer *f, int fd)
{
	int error = errno;

	while (read(fd, f->room, FUZZ_ROOM - 4096) > 0)
		;
	errno = error;
}

static long do_splice(struct fuzzer *f)
{
	bool in = !rng_once_in(&f->rng, 3);
	int fd = in ? fuzz_fd_to_read(f) : fuzz_fd_to_write(f);
	long moved;

	if (in) {
		moved = splice(fd, NULL, f->pipe[1], NULL, fuzz_size(f),
			       SPLICE_F_NONBLOCK);
	} else {
		if (write(f->pipe[1], f->text, fuzz_text(f, fd)) < 0)
			return 0;
		moved = splice(f->pipe[0], NULL, fd, NULL, FUZZ_TEXT,
			       SPLICE_F_NONBLOCK);
		fuzz_judge_write(f, fd, moved);
	}
	drain(f, f->pipe[0]);
	return moved;
}

static long do_sendfile(struct fuzzer *f)
{
	off_t offset = fuzz_offset(f);
	long moved = sendfile(f->pipe[1], fuzz_fd(f),
			      rng_once_in(&f->rng, 2) ? &offset : NULL,
			      fuzz_size(f));

	drain(f, f->pipe[0]);
	return moved;
}

static long do_copy_range(struct fuzzer *f)
{
	return copy_file_range(fuzz_fd(f), NULL, fuzz_fd(f), NULL, fuzz_size(f),
			       0);
}

static long do_fallocate(struct fuzzer *f)
{
	return fallocate(fuzz_fd(f), (int)rng_below(&f->rng, 0x80),
			 fuzz_offset(f), fuzz_offset(f));
}

static long do_ftruncate(struct fuzzer *f)
{
	return ftruncate(fuzz_fd(f), fuzz_offset(f));
}

static long do_fsync(struct fuzzer *f)
{
	return rng_once_in(&f->rng, 2) ? fsync(fuzz_fd(f)) :
	       fdatasync(fuzz_fd(f));
}

static long do_dup(struct fuzzer *f)
{
	int *slot = fuzz_slot(f), fd = dup(fuzz_fd(f));

	if (fd < 0)
		return fd;
	if (*slot >= 0)
		close(*slot);
	*slot = fd;
	return fd;
}

/*
 * Makes a child, which has all open files, and may end in the middle of a call.
 */
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

	fuzz_path(f, path);
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

	return fstat(fuzz_fd(f), &status);
}

/*
 * Calls fcntl(). A file lease is given up at once, because the kernel would let
 * open() wait 45 s for its holder.
 */
static long do_fcntl(struct fuzzer *f)
{
	static const int commands[] = { F_GETFL, F_GETFD, F_GETPIPE_SZ,
		F_GET_SEALS, F_ADD_SEALS, F_GETLEASE, F_SETLEASE, F_NOTIFY,
		F_GET_RW_HINT };
	int command = RNG_PICK(&f->rng, commands), fd = fuzz_fd(f);
	long result;

	if (command == F_GET_RW_HINT)
		return fcntl(fd, command, fuzz_buffer(f));
	result = fcntl(fd, command, (int)rng_below(&f->rng, 3));
	if (command == F_SETLEASE && !result)
		fcntl(fd, F_SETLEASE, F_UNLCK);
	return result;
}

static long do_flock(struct fuzzer *f)
{
	return flock(fuzz_fd(f), (int)rng_below(&f->rng, 16) | LOCK_NB);
}

static long do_getdents(struct fuzzer *f)
{
	return syscall(SYS_getdents64, fuzz_fd(f), fuzz_buffer(f),
		       fuzz_size(f) % FUZZ_ROOM);
}

static long do_fadvise(struct fuzzer *f)
{
	errno = posix_fadvise(fuzz_fd(f), fuzz_offset(f), fuzz_offset(f),
			      (int)rng_below(&f->rng, 8));
	return errno ? -1 : 0;
}

static long do_close(struct fuzzer *f)
{
	int *slot = fuzz_slot(f), fd = *slot;

	*slot = -1;
	return close(fd);
}

/* Each call with its frequency, compared with the others. */
static const struct {
	long (*run)(struct fuzzer *f);
	unsigned int weight;
} call_table[FUZZ_CALLS] = {
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

size_t fuzz_call(struct fuzzer *f, long *result)
{
	size_t total = 0, call = 0, left;

	for (size_t i = 0; i < FUZZ_CALLS; i++)
		total += call_table[i].weight;
	left = rng_below(&f->rng, total);
	while (left >= call_table[call].weight)
		left -= call_table[call++].weight;
	*result = call_table[call].run(f);
	return call;
}
