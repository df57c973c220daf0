// SPDX-License-Identifier: MIT OR GPL-2.0
#include "faults.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ktap.h"

#define DEBUGFS "/sys/kernel/debug/"
#define NTH "/proc/self/fail-nth"

enum own { FAIL_NTH, MAY_FAIL };

unsigned long faults_every = 1;

static unsigned int injected, refused;

static void set(const char *file, const char *value)
{
	char path[100];
	int fd;

	snprintf(path, sizeof(path), "%s%s", file[0] == '/' ? "" : DEBUGFS,
		 file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ASSERT(fd >= 0 && write(fd, value, strlen(value)) > 0, "%s: %s", path,
	       strerror(errno));
	close(fd);
}

static void set_each(const char *file, const char *value)
{
	static const char *const kinds[] = { "failslab", "fail_page_alloc",
					     "fail_usercopy" };
	char path[60];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		snprintf(path, sizeof(path), "%s/%s", kinds[i], file);
		set(path, value);
	}
}

void faults_need(void)
{
	if (access(NTH, W_OK) || access(DEBUGFS "failslab", F_OK) ||
	    access(DEBUGFS "fail_page_alloc", F_OK))
		ktap_skip("this kernel has no fault injection");
	/* All kinds of allocation fail, and the log gets no stack for each. */
	set("failslab/ignore-gfp-wait", "N");
	set("fail_page_alloc/ignore-gfp-wait", "N");
	set("fail_page_alloc/ignore-gfp-highmem", "N");
	set("fail_page_alloc/min-order", "0");
	set_each("verbose", "0");
	set_each("task-filter", "Y");
	set_each("times", "-1");
}

struct faults faults_walk(void)
{
	return faults_walk_from(1);
}

struct faults faults_walk_from(unsigned int nth)
{
	return (struct faults){ .nth = nth - (unsigned int)faults_every,
				.hit = true };
}

bool faults_more(struct faults *walk)
{
	walk->nth += (unsigned int)faults_every;
	ASSERT(walk->nth < FAULTS_NEVER, "there is no end to what can fail");
	return walk->hit;
}

/*
 * Returns this process's descriptor of the file. It was opened before anything
 * could fail.
 */
static int own_file(enum own own)
{
	static const char *const names[] = { NTH, "/proc/self/make-it-fail" };
	static int fds[2];
	static pid_t owner;

	if (owner != getpid())
		for (int i = 0; i < 2; i++) {
			fds[i] = open(names[i], O_RDWR | O_CLOEXEC);
			ASSERT(fds[i] >= 0, "%s: %s", names[i],
			       strerror(errno));
		}
	owner = getpid();
	return fds[own];
}

void faults_arm(const struct faults *walk)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", walk->nth);

	ASSERT(pwrite(own_file(FAIL_NTH), text, (size_t)length, 0) == length,
	       NTH ": %s", strerror(errno));
}

/*
 * Reads the number that is left, and clears it. Both also copy to and from user
 * space, so one of these copies may take the failure that the run had no use
 * for.
 */
void faults_disarm(struct faults *walk)
{
	int error = errno, fd = own_file(FAIL_NTH);
	char left[16] = "";

	walk->left = walk->nth;
	if (pread(fd, left, sizeof(left) - 1, 0) > 0)
		walk->left = (unsigned int)atoi(left);
	walk->hit = !walk->left;
	if (!walk->hit)
		(void)!pwrite(fd, "0", 1, 0);
	errno = error;
}

void faults_often(unsigned int percent)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", percent);
	set_each("probability", text);
	(void)!pwrite(own_file(MAY_FAIL), "1", 1, 0);
}

void faults_never(void)
{
	int error = errno;

	/* This write may fail as well. */
	while (pwrite(own_file(MAY_FAIL), "0", 1, 0) != 1)
		;
	set_each("probability", "0");
	errno = error;
}

bool faults_errno(int error)
{
	return error == ENOMEM || error == EFAULT;
}

void faults_count(const struct faults *walk, int error, const char *what)
{
	ktap_alive();
	injected += walk->hit;
	refused += !!error;
	EXPECT(!error || (walk->hit && faults_errno(error)),
	       "%s with failure %u: %s", what, walk->nth, strerror(error));
}

void faults_note(void)
{
	ktap_note("%u failures injected, %u requests refused", injected,
		  refused);
}
