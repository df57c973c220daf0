// SPDX-License-Identifier: MIT OR GPL-2.0
#define _GNU_SOURCE
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ktap.h"
#include "people.h"

static void set_capabilities(uint64_t mask)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = {
		{ .effective = mask, .permitted = mask },
		{ .effective = mask >> 32, .permitted = mask >> 32 },
	};

	ASSERT(!syscall(SYS_capset, &header, data), "capset: %s",
	       strerror(errno));
}

void become(unsigned int uid, unsigned int gid)
{
	ASSERT(!setgroups(0, NULL) && !setresgid(gid, gid, gid) &&
	       !setresuid(uid, uid, uid), "becoming %u:%u: %s", uid, gid,
	       strerror(errno));
}

void become_with(unsigned int uid, unsigned int capability)
{
	ASSERT(!prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0), "keeping capabilities: %s",
	       strerror(errno));
	become(uid, uid);
	set_capabilities(1ULL << capability);
}

void keep_capabilities(uint64_t mask)
{
	for (unsigned int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (!(mask >> cap & 1))
			ASSERT(!prctl(PR_CAPBSET_DROP, cap, 0, 0, 0),
			       "bounding set: %s", strerror(errno));
	set_capabilities(mask);
}

void drop_capability(unsigned int capability)
{
	uint64_t all = 0;

	for (unsigned int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		all |= 1ULL << cap;
	keep_capabilities(all & ~(1ULL << capability));
}

static void write_line(const char *path, const char *line)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	ASSERT(fd >= 0 && write(fd, line, strlen(line)) == (ssize_t)strlen(line),
	       "%s: %s", path, strerror(errno));
	close(fd);
}

void enter_user_namespace(unsigned int outside)
{
	char map[40];

	snprintf(map, sizeof(map), "0 %u 1\n", outside);
	/* After a change of user the maps belong to root, until this call. */
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	if (unshare(CLONE_NEWUSER))
		ktap_skip("no user namespaces: %s", strerror(errno));
	write_line("/proc/self/setgroups", "deny");
	write_line("/proc/self/uid_map", map);
	write_line("/proc/self/gid_map", map);
	ASSERT(!setresgid(0, 0, 0) && !setresuid(0, 0, 0), "becoming root: %s",
	       strerror(errno));
}

void enter_container(void)
{
	int pid;

	ASSERT(!unshare(CLONE_NEWNS | CLONE_NEWPID), "namespaces: %s",
	       strerror(errno));
	pid = ktap_fork();
	if (pid)
		ktap_end_as(ktap_wait(pid));
	ASSERT(!mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("proc", "/proc", "proc", 0, NULL), "a /proc: %s",
	       strerror(errno));
}
