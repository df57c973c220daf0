// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * The rights of users, with the module's default parameters. Each test runs in a
 * process of its own, so it drops its privileges for good.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "people.h"
#include "state.h"
#include "suite.h"
#include "tree.h"

#define USER 1000
#define PUBLIC 0444

static unsigned int mode_of(const char *file)
{
	const struct file_kind *kind = file_kind(file);

	ASSERT(kind, "%s: no such file is documented", file);
	return kind->mode;
}

static void need_root(void)
{
	if (geteuid())
		ktap_skip("needs root");
}

static void become_user(void)
{
	become(USER, USER);
}

static void drop_sys_admin(void)
{
	drop_capability(CAP_SYS_ADMIN);
}

/*
 * Expects that no control takes a request: each fails with one of the errors.
 */
static void expect_writes_fail(const struct gpu *gpu,
			       const struct request *requests, size_t count,
			       int error, int or_error)
{
	for (size_t i = 0; i < count; i++) {
		const struct request *request = &requests[i];
		int got = control(gpu, request->file, request->text);

		EXPECT(got == error || got == or_error, "%s: %s, want %s",
		       request->file, got ? strerror(got) : "taken",
		       strerror(error));
	}
}

static void test_modes(const struct gpu *gpu)
{
	struct files files;
	struct stat status;

	gpu_files(gpu, 0, &files);
	ASSERT(!stat(gpu->folder, &status), "%s: %s", gpu->folder,
	       strerror(errno));
	EXPECT((status.st_mode & 07777) == 0555, "the folder has mode %#o",
	       status.st_mode & 07777);
	for (size_t i = 0; i < files.count; i++) {
		char path[300];

		snprintf(path, sizeof(path), "%s/%s", gpu->folder,
			 files.name[i]);
		ASSERT(!stat(path, &status), "%s: %s", path, strerror(errno));
		EXPECT((status.st_mode & 07777) == mode_of(files.name[i]),
		       "%s has mode %#o, want %#o", files.name[i],
		       status.st_mode & 07777, mode_of(files.name[i]));
		EXPECT(status.st_uid == 0 && status.st_gid == 0,
		       "%s belongs to %u:%u", files.name[i], status.st_uid,
		       status.st_gid);
	}
}

/* A normal user reads what root reads, where the mode allows it. */
static void test_user_reads(const struct gpu *gpu)
{
	static char *expected[FILES_MAX];
	struct files files;

	need_root();
	gpu_files(gpu, PUBLIC, &files);
	ASSERT(files.count, "no world-readable file");
	for (size_t i = 0; i < files.count; i++)
		expected[i] = gpu_read(gpu, files.name[i], NULL);
	become_user();
	for (size_t i = 0; i < files.count; i++) {
		char *text = gpu_read(gpu, files.name[i], NULL);

		EXPECT(text || (file_is(files.name[i], FILE_UNCONNECTED) &&
				errno == ENODEV), "%s: %s", files.name[i],
		       strerror(errno));
		EXPECT(!text == !expected[i] &&
		       (!text || file_is(files.name[i], FILE_MOVES) ||
			!strcmp(text, expected[i])),
		       "%s: differs from what root reads", files.name[i]);
		free(text);
	}
}

static void test_user_is_kept_out(const struct gpu *gpu)
{
	static const int flags[] = { O_RDONLY, O_WRONLY, O_RDWR };
	struct files files;

	need_root();
	gpu_files(gpu, 0, &files);
	become_user();
	for (size_t i = 0; i < files.count; i++) {
		for (size_t f = 0; f < 3; f++) {
			int fd;

			if (mode_of(files.name[i]) == PUBLIC &&
			    flags[f] == O_RDONLY)
				continue;
			fd = gpu_open(gpu, files.name[i], flags[f]);
			EXPECT(fd < 0 && errno == EACCES,
			       "%s: open with flags %#x: %s", files.name[i],
			       flags[f], fd < 0 ? strerror(errno) : "works");
			if (fd >= 0)
				close(fd);
		}
	}
}

static void test_no_sys_admin_write(const struct gpu *gpu)
{
	struct request requests[REQUESTS_MAX];
	size_t count;

	need_root();
	count = need_requests(gpu, requests);
	drop_sys_admin();
	for (size_t i = 0; i < count; i++) {
		int fd = gpu_open(gpu, requests[i].file, O_WRONLY);

		EXPECT(fd >= 0, "%s: open: %s", requests[i].file,
		       strerror(errno));
		close(fd);
	}
	expect_writes_fail(gpu, requests, count, EPERM, EPERM);
}

/*
 * The rights are checked before the text, so that an errno tells nobody which
 * objects exist.
 */
static void test_no_sys_admin_junk(const struct gpu *gpu)
{
	static const char *const texts[] = { "", "junk", "4294967296",
					     "99:0" };
	struct request requests[REQUESTS_MAX];
	size_t count;

	need_root();
	count = need_requests(gpu, requests);
	drop_sys_admin();
	for (size_t t = 0; t < sizeof(texts) / sizeof(*texts); t++) {
		for (size_t i = 0; i < count; i++)
			strcpy(requests[i].text, texts[t]);
		expect_writes_fail(gpu, requests, count, EPERM, EPERM);
	}
}

/* Descriptors that a privileged process opened do not carry its rights. */
static void test_inherited_control(const struct gpu *gpu)
{
	struct request requests[REQUESTS_MAX];
	int fds[REQUESTS_MAX];
	size_t count;

	need_root();
	count = need_requests(gpu, requests);
	for (size_t i = 0; i < count; i++) {
		fds[i] = gpu_open(gpu, requests[i].file, O_WRONLY);
		ASSERT(fds[i] >= 0, "%s: open: %s", requests[i].file,
		       strerror(errno));
	}
	for (int user = 0; user < 2; user++) {
		int pid = ktap_fork();

		if (pid) {
			ktap_wait(pid);
			continue;
		}
		if (user)
			become_user();
		else
			drop_sys_admin();
		for (size_t i = 0; i < count; i++) {
			const char *text = requests[i].text;
			ssize_t written = write(fds[i], text, strlen(text));

			EXPECT(written < 0 && errno == EPERM, "%s: write: %s",
			       requests[i].file,
			       written < 0 ? strerror(errno) : "taken");
		}
		ktap_end();
	}
}

static void test_no_sys_admin_read(const struct gpu *gpu)
{
	struct files files;

	need_root();
	gpu_texts(gpu, 0400, &files);
	drop_sys_admin();
	for (size_t i = 0; i < files.count; i++) {
		char *text = gpu_read(gpu, files.name[i], NULL);

		EXPECT(text || (file_is(files.name[i], FILE_UNCONNECTED) &&
				errno == ENODEV), "%s: %s", files.name[i],
		       strerror(errno));
		EXPECT(!text || !strstr(text, " hidden "),
		       "%s: hides addresses from root", files.name[i]);
		free(text);
	}
}

static void test_namespace_of_root(const struct gpu *gpu)
{
	struct request requests[REQUESTS_MAX];
	size_t count;

	need_root();
	count = need_requests(gpu, requests);
	enter_user_namespace(0);
	expect_writes_fail(gpu, requests, count, EPERM, EACCES);
}

static void test_namespace_of_user(const struct gpu *gpu)
{
	struct request requests[REQUESTS_MAX];
	struct files files;
	size_t count;

	need_root();
	gpu_files(gpu, 0, &files);
	count = need_requests(gpu, requests);
	become_user();
	enter_user_namespace(USER);
	expect_writes_fail(gpu, requests, count, EACCES, EPERM);
	for (size_t i = 0; i < files.count; i++) {
		int fd = gpu_open(gpu, files.name[i], O_RDONLY);

		EXPECT(mode_of(files.name[i]) == PUBLIC ||
		       (fd < 0 && errno == EACCES), "%s: open: %s",
		       files.name[i], fd < 0 ? strerror(errno) : "works");
		if (fd >= 0)
			close(fd);
	}
}

static const struct suite_test tests[] = {
	{ "modes", "modes and owners are those of the contract", test_modes,
	  0 },
	{ "user_reads", "a normal user reads the world-readable files",
	  test_user_reads, 0 },
	{ "user_is_kept_out", "a normal user opens nothing else",
	  test_user_is_kept_out, 0 },
	{ "no_sys_admin_write", "root without CAP_SYS_ADMIN changes nothing",
	  test_no_sys_admin_write, SUITE_CONTROLS },
	{ "no_sys_admin_junk", "it gets EPERM for junk as well",
	  test_no_sys_admin_junk, SUITE_CONTROLS },
	{ "no_sys_admin_read", "it reads everything, with addresses",
	  test_no_sys_admin_read, 0 },
	{ "inherited_control", "inherited descriptors give no right to write",
	  test_inherited_control, SUITE_CONTROLS },
	{ "namespace_of_root", "root in a user namespace changes nothing",
	  test_namespace_of_root, SUITE_CONTROLS },
	{ "namespace_of_user", "a user's namespace opens nothing more",
	  test_namespace_of_user, SUITE_CONTROLS },
};

int main(int argc, char **argv)
{
	return SUITE_MAIN(argc, argv, tests);
}
