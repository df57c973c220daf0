// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Tests of the module's parameters. Needs the module's file: see module.h.
 * Afterwards the module is loaded with default parameters.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "module.h"
#include "people.h"
#include "state.h"
#include "suite.h"
#include "tree.h"

#define USER 1000
#define OTHER_USER 1001
#define GROUP 2000

/*
 * Expects the mode and the owner of files with state. Topology and controls
 * keep theirs.
 */
static void expect_modes(const struct gpu *gpus, unsigned int mode,
			 unsigned int uid, unsigned int gid)
{
	for (const struct gpu *gpu = gpus; gpu->name[0]; gpu++) {
		struct files files;

		gpu_files(gpu, 0, &files);
		for (size_t i = 0; i < files.count; i++) {
			const struct file_kind *kind = file_kind(files.name[i]);
			bool state = file_is_state(files.name[i]);
			unsigned int want = state ? mode : kind->mode;
			unsigned int owner = state ? uid : 0;
			unsigned int group = state ? gid : 0;
			struct stat status;
			char path[300];

			snprintf(path, sizeof(path), "%s/%s", gpu->folder,
				 files.name[i]);
			ASSERT(!stat(path, &status), "%s: %s", path,
			       strerror(errno));
			EXPECT((status.st_mode & 07777) == want &&
			       status.st_uid == owner && status.st_gid == group,
			       "%s is %u:%u %#o, want %u:%u %#o", path,
			       status.st_uid, status.st_gid,
			       status.st_mode & 07777, owner, group, want);
		}
	}
}

static size_t count_of(const char *word, const char *text)
{
	size_t count = 0;

	while ((text = strstr(text, word))) {
		text += strlen(word);
		count++;
	}
	return count;
}

/*
 * Returns whether the file has addresses. Others have words that look like
 * them.
 */
static bool has_addresses(const char *file)
{
	return file_is_state(file) && file_is(file, FILE_MEMORY | FILE_MOVES);
}

/* Reads all state of all GPUs; "" if the files do not open, with `error`. */
static char *all_state(const struct gpu *gpus, int error)
{
	size_t size;
	char *all;
	FILE *out = open_memstream(&all, &size);

	ASSERT(out, "no memory for the state");
	for (const struct gpu *gpu = gpus; gpu->name[0]; gpu++) {
		struct files files;

		gpu_files(gpu, 0, &files);
		for (size_t i = 0; i < files.count; i++) {
			char *text;

			if (!has_addresses(files.name[i]))
				continue;
			text = gpu_read(gpu, files.name[i], NULL);
			EXPECT(error ? !text && errno == error : !!text,
			       "%u:%u reads %s/%s: %s", geteuid(), getegid(),
			       gpu->name, files.name[i],
			       text ? "works" : strerror(errno));
			fprintf(out, "%s", text ? text : "");
			free(text);
		}
	}
	fclose(out);
	return all;
}

/*
 * Reads all state as a user, and expects an error, or text with or without
 * addresses.
 */
static void expect_reader(const struct gpu *gpus, unsigned int uid,
			  unsigned int gid, int error, bool hidden)
{
	char *mine = all_state(gpus, 0), *text;
	size_t addresses = count_of(" 0x", mine);
	int pid = ktap_fork();

	free(mine);
	if (pid) {
		ktap_wait(pid);
		return;
	}
	become(uid, gid);
	text = all_state(gpus, error);
	if (!error) {
		EXPECT(count_of("0x", text) == (hidden ? 0 : addresses),
		       "%u:%u sees %zu of %zu addresses", uid, gid,
		       count_of("0x", text), addresses);
		EXPECT(count_of(" hidden", text) == (hidden ? addresses : 0),
		       "%u:%u finds %zu of %zu addresses hidden", uid, gid,
		       count_of(" hidden", text), addresses);
	}
	ktap_end();
}

static void reload(const char *params)
{
	module_must_unload();
	module_must_load(params);
}

static void test_default(const struct gpu *gpus)
{
	module_need();
	reload("");
	expect_modes(gpus, 0400, 0, 0);
	expect_reader(gpus, USER, USER, EACCES, false);
}

static void test_state_uid(const struct gpu *gpus)
{
	module_need();
	reload("state_uid=1000");
	expect_modes(gpus, 0400, USER, 0);
	expect_reader(gpus, USER, USER, 0, false);
	expect_reader(gpus, OTHER_USER, USER, EACCES, false);
}

static void test_state_gid(const struct gpu *gpus)
{
	module_need();
	reload("state_gid=2000");
	expect_modes(gpus, 0440, 0, GROUP);
	expect_reader(gpus, USER, GROUP, 0, false);
	expect_reader(gpus, USER, USER, EACCES, false);
}

static void test_state_all(const struct gpu *gpus)
{
	module_need();
	reload("state_all=1");
	expect_modes(gpus, 0444, 0, 0);
	expect_reader(gpus, 0, 0, 0, false);
	expect_reader(gpus, USER, USER, 0, true);
}

/*
 * The opener's rights decide, not the reader's: a pipe would pass the text on
 * as well.
 */
static void test_state_all_keeps_opener(const struct gpu *gpus)
{
	size_t size;
	char *text;
	int fd, pid;

	module_need();
	reload("state_all=1");
	if (!gpu_has(gpus, "runlist0"))
		ktap_skip("%s has no runlist0", gpus->name);
	fd = gpu_open(gpus, "runlist0", O_RDONLY);
	ASSERT(fd >= 0, "open: %s", strerror(errno));
	text = read_to_end(fd, &size);
	ASSERT(text, "read: %s", strerror(errno));
	pid = ktap_fork();
	if (pid == 0) {
		char *again;

		become(USER, USER);
		lseek(fd, 0, SEEK_SET);
		again = read_to_end(fd, NULL);
		EXPECT(again && !strcmp(text, again),
		       "the snapshot depends on who reads it");
		ktap_end();
	}
	ktap_wait(pid);
}

static void test_read_only(const struct gpu *gpus)
{
	module_need();
	reload("read_only=1");
	for (const struct gpu *gpu = gpus; gpu->name[0]; gpu++) {
		struct request requests[REQUESTS_MAX];
		size_t count = working_requests(gpu, requests);
		struct state before = state_read(gpu);

		for (size_t i = 0; i < count; i++) {
			int error = control(gpu, requests[i].file,
					    requests[i].text);

			EXPECT(error == EPERM, "%s/%s: %s", gpu->name,
			       requests[i].file,
			       error ? strerror(error) : "taken");
			error = control_format(gpu, requests[i].file,
					       "lease %s", requests[i].text);
			EXPECT(error == EPERM, "%s/%s: lease: %s", gpu->name,
			       requests[i].file,
			       error ? strerror(error) : "taken");
		}
		EXPECT(count || !gpu_has(gpu, DISABLE),
		       "%s: nothing to try the controls with", gpu->name);
		state_expect(gpu, &before, "after refused writes");
		state_free(&before);
	}
}

static void test_no_window(const struct gpu *gpus)
{
	module_need();
	reload("pram_window=never");
	for (const struct gpu *gpu = gpus; gpu->name[0]; gpu++) {
		struct files files;

		gpu_texts(gpu, 0400, &files);
		for (size_t i = 0; i < files.count; i++) {
			const char *file = files.name[i];
			char *text = gpu_read(gpu, file, NULL);
			bool excused = file_is(file, FILE_MEMORY) ?
				       errno == EOPNOTSUPP :
				       errno == ENODEV &&
				       file_is(file, FILE_UNCONNECTED);

			EXPECT(text || excused, "%s/%s: %s", gpu->name, file,
			       strerror(errno));
			free(text);
		}
	}
}

static void test_nonsense(const struct gpu *gpus)
{
	static const char *const params[] = { "pram_window=maybe",
					      "pram_window=always",
					      "read_only=x", "state_gid=x",
					      "state_gid=-2", "state_uid=x",
					      "state_uid=-2" };

	module_need();
	(void)gpus;
	module_must_unload();
	for (size_t i = 0; i < sizeof(params) / sizeof(*params); i++) {
		int error = module_load(params[i]);

		EXPECT(error, "\"%s\" is taken", params[i]);
		if (!error)
			module_must_unload();
	}
	module_must_load("");
}

/*
 * This test comes last, because later programs need the module with its
 * defaults.
 */
static void test_default_again(const struct gpu *gpus)
{
	module_need();
	module_unload(); /* may not be loaded if a test failed */
	module_must_load("");
	expect_modes(gpus, 0400, 0, 0);
}

static const struct suite_test tests[] = {
	{ "default", "state is for root only", test_default, SUITE_ALL },
	{ "state_uid", "state_uid lets a user read state", test_state_uid,
	  SUITE_ALL },
	{ "state_gid", "state_gid lets a group read state", test_state_gid,
	  SUITE_ALL },
	{ "state_all", "state_all lets all read state, without addresses",
	  test_state_all, SUITE_ALL },
	{ "state_all_keeps_opener", "a snapshot is of who opened it",
	  test_state_all_keeps_opener, SUITE_ALL },
	{ "read_only", "read_only refuses controls", test_read_only,
	  SUITE_ALL },
	{ "no_window", "pram_window=never loses at most what is in memory",
	  test_no_window, SUITE_ALL },
	{ "nonsense", "unknown values are refused at load", test_nonsense,
	  SUITE_ALL },
	{ "default_again", "the defaults come back", test_default_again,
	  SUITE_ALL },
};

int main(int argc, char **argv)
{
	return SUITE_MAIN(argc, argv, tests);
}
