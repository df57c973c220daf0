// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Every allocation of opening and reading a file fails in turn: the call is
 * refused with an errno for that, or it is done as if nothing had failed. Needs
 * a kernel with fault injection.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "faults.h"
#include "options.h"
#include "suite.h"
#include "topology.h"
#include "tree.h"

#define TEXT_MAX (1 << 20)

/* Returns the part of a file's text that stays the same while the GPU works. */
static char *steady(const char *file, const char *text)
{
	if (file_is(file, FILE_MOVES))
		return strdup("");
	return strncmp(file, "runlist", 7) ? strdup(text) :
					     runlist_skeleton(text);
}

static void expect_text(const char *file, const char *expected,
			const char *text, unsigned int nth)
{
	char *now = steady(file, text);

	if (strcmp(expected, now)) {
		EXPECT(false, "%s: another text with failure %u", file, nth);
		ktap_note_difference(expected, now);
	}
	free(now);
}

static void walk_open(const struct gpu *gpu, const char *file,
		      const char *expected)
{
	struct faults walk;

	for (walk = faults_walk(); faults_more(&walk);) {
		char *text;
		int fd;

		faults_arm(&walk);
		fd = gpu_open(gpu, file, O_RDONLY);
		faults_disarm(&walk);
		faults_count(&walk, fd < 0 ? errno : 0, file);
		if (fd < 0)
			continue;
		text = read_to_end(fd, NULL);
		EXPECT(text, "%s: read after failure %u: %s", file, walk.nth,
		       strerror(errno));
		if (text)
			expect_text(file, expected, text, walk.nth);
		free(text);
		close(fd);
	}
}

static void walk_read(const struct gpu *gpu, const char *file,
		      const char *expected)
{
	static char buffer[TEXT_MAX];
	struct faults walk;

	for (walk = faults_walk(); faults_more(&walk);) {
		int fd = gpu_open(gpu, file, O_RDONLY);
		ssize_t got;
		char *text;

		ASSERT(fd >= 0, "%s: open: %s", file, strerror(errno));
		faults_arm(&walk);
		got = read(fd, buffer, sizeof(buffer));
		faults_disarm(&walk);
		faults_count(&walk, got < 0 ? errno : 0, file);
		lseek(fd, 0, SEEK_SET);
		text = read_to_end(fd, NULL);
		EXPECT(text, "%s: read again after failure %u: %s", file,
		       walk.nth, strerror(errno));
		if (text) {
			EXPECT(got <= 0 || !strncmp(text, buffer, (size_t)got),
			       "%s: other text at the second read", file);
			expect_text(file, expected, text, walk.nth);
		}
		free(text);
		close(fd);
	}
}

static void test_read(const struct gpu *gpu)
{
	struct files files;

	faults_need();
	gpu_texts(gpu, 0400, &files);
	for (size_t i = 0; i < files.count; i++) {
		const char *file = files.name[i];
		char *text = gpu_read(gpu, file, NULL), *expected;

		if (!text && file_is(file, FILE_UNCONNECTED))
			continue;
		ASSERT(text, "%s: %s", file, strerror(errno));
		expected = steady(file, text);
		walk_open(gpu, file, expected);
		walk_read(gpu, file, expected);
		free(expected);
		free(text);
	}
	faults_note();
}

static void test_translate(const struct gpu *gpu)
{
	static const char request[] = "0x1000 0";
	const ssize_t size = sizeof(request) - 1;
	char *expected = NULL, *text;
	struct faults walk;

	faults_need();
	need_file(gpu, "translate");
	for (walk = faults_walk(); faults_more(&walk);) {
		ssize_t written;
		int fd;

		faults_arm(&walk);
		fd = gpu_open(gpu, "translate", O_RDWR);
		written = fd < 0 ? -1 : write(fd, request, (size_t)size);
		faults_disarm(&walk);
		faults_count(&walk, written == size ? 0 : errno, "translate");
		if (fd < 0)
			continue;
		EXPECT(written == size || write(fd, request, (size_t)size) == size,
		       "again, after failure %u: %s", walk.nth,
		       strerror(errno));
		text = read_to_end(fd, NULL);
		ASSERT(text, "the answer: %s", strerror(errno));
		EXPECT(!expected || !strcmp(expected, text),
		       "another answer after failure %u", walk.nth);
		if (!expected)
			expected = text;
		else
			free(text);
		close(fd);
	}
	free(expected);
	faults_note();
}

static const struct suite_test tests[] = {
	{ "read", "opening and reading", test_read, 0 },
	{ "translate", "a walk of page tables", test_translate, 0 },
};

int main(int argc, char **argv)
{
	static const struct option options[] = { { "--every", &faults_every } };

	argc = OPTIONS_TAKE(argc, argv, options);
	return SUITE_MAIN(argc, argv, tests);
}
