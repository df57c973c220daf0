// SPDX-License-Identifier: MIT OR GPL-2.0
#include "faults.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ktap.h"

#define DEBUGFS "/sys/kernel/debug/"
#define NTH "/proc/self/fail-nth"
#define NTH_MAX 100000

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

void faults_need(void)
{
	if (access(NTH, W_OK) || access(DEBUGFS "failslab", F_OK) ||
	    access(DEBUGFS "fail_page_alloc", F_OK))
		ktap_skip("this kernel has no fault injection");
	/* All kinds of allocation, and no stack in the log for each. */
	set("failslab/ignore-gfp-wait", "N");
	set("failslab/verbose", "0");
	set("fail_page_alloc/ignore-gfp-wait", "N");
	set("fail_page_alloc/ignore-gfp-highmem", "N");
	set("fail_page_alloc/min-order", "0");
	set("fail_page_alloc/verbose", "0");
	set("fail_usercopy/verbose", "0");
}

struct faults faults_walk(void)
{
	return (struct faults){ .nth = 0, .hit = true };
}

bool faults_more(struct faults *walk)
{
	ASSERT(walk->nth < NTH_MAX, "there is no end to what can fail");
	walk->nth++;
	return walk->hit;
}

static int nth_file(void)
{
	static int fd;
	static pid_t owner;

	if (owner == getpid())
		return fd;
	fd = open(NTH, O_RDWR | O_CLOEXEC);
	ASSERT(fd >= 0, NTH ": %s", strerror(errno));
	owner = getpid();
	return fd;
}

void faults_arm(const struct faults *walk)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", walk->nth);

	ASSERT(pwrite(nth_file(), text, (size_t)length, 0) == length,
	       NTH ": %s", strerror(errno));
}

/*
 * Reading and clearing the number copy to and from user space as well, so one
 * of these may take the failure that the run had no use for.
 */
void faults_disarm(struct faults *walk)
{
	int error = errno, fd = nth_file();
	char left[16] = "";

	walk->hit = pread(fd, left, sizeof(left) - 1, 0) > 0 && !atoi(left);
	if (!walk->hit)
		(void)!pwrite(fd, "0", 1, 0);
	errno = error;
}

bool faults_errno(int error)
{
	return error == ENOMEM || error == EFAULT;
}
