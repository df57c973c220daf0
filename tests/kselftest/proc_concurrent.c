// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Many readers and writers at once. Time passes on a GPU between two opens, so
 * between opens only the structure of a runlist is compared.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "suite.h"

#define READERS 4
#define ROUNDS 8

/* Different ones, so that the readers get out of step. */
static const size_t piece_sizes[READERS] = { 1, 37, 1021, 65536 };

/* In a few thousand pieces at most, so that long runlists take no ages. */
static char *read_in_pieces(int fd, size_t piece)
{
	size_t room = 1 << 12, used = 0;
	char *text = malloc(room);
	ssize_t got;

	do {
		if (piece < room / 512)
			piece = room / 512;
		if (room - used <= piece) {
			room = 2 * room + piece;
			text = realloc(text, room);
		}
		ASSERT(text, "no memory for a runlist");
		got = read(fd, text + used, piece);
		ASSERT(got >= 0, "read: %s", strerror(errno));
		used += (size_t)got;
	} while (got > 0);
	text[used] = '\0';
	return text;
}

static char *read_runlist(const struct gpu *gpu, unsigned int runlist,
			  size_t piece)
{
	char file[32], *text;
	int fd;

	snprintf(file, sizeof(file), "runlist%u", runlist);
	fd = gpu_open(gpu, file, O_RDONLY);
	ASSERT(fd >= 0, "%s/%s: open: %s", gpu->name, file, strerror(errno));
	text = read_in_pieces(fd, piece);
	close(fd);
	return text;
}

static void expect_structure(const struct gpu *gpu, unsigned int runlist,
			     const char *expected, size_t piece)
{
	char *text = read_runlist(gpu, runlist, piece);
	char *skeleton = runlist_skeleton(text);

	EXPECT(strstr(skeleton, " consistent "), "%s/runlist%u: torn",
	       gpu->name, runlist);
	EXPECT(!strcmp(skeleton, expected),
	       "%s/runlist%u: structure differs, with pieces of %zu",
	       gpu->name, runlist, piece);
	free(skeleton);
	free(text);
}

static size_t need_runlists(const struct gpu *gpu, unsigned int *runlists)
{
	size_t count = gpu_runlists(gpu, runlists, RUNLISTS_MAX);

	if (!count)
		ktap_skip("%s has no runlist files", gpu->name);
	return count;
}

/* All readers open and read all runlists, each from another one on. */
static void test_opens(const struct gpu *gpu)
{
	unsigned int runlists[RUNLISTS_MAX];
	size_t count = need_runlists(gpu, runlists);
	char *expected[RUNLISTS_MAX];
	int pids[READERS];

	for (size_t i = 0; i < count; i++)
		expected[i] = runlist_skeleton(read_runlist(gpu, runlists[i],
							    4096));
	for (size_t reader = 0; reader < READERS; reader++) {
		pids[reader] = ktap_fork();
		if (pids[reader])
			continue;
		for (size_t step = 0; step < ROUNDS * count; step++) {
			size_t i = (step + reader) % count;

			expect_structure(gpu, runlists[i], expected[i],
					 piece_sizes[reader]);
		}
		ktap_end();
	}
	for (size_t reader = 0; reader < READERS; reader++)
		ktap_wait(pids[reader]);
}

/* All readers at one runlist, all GPUs at once. */
static void test_all_gpus(const struct gpu *gpus)
{
	int pids[GPUS_MAX * 2];
	size_t started = 0;

	for (const struct gpu *gpu = gpus; gpu->name[0]; gpu++) {
		unsigned int runlists[RUNLISTS_MAX];
		char *expected;

		if (!gpu_runlists(gpu, runlists, RUNLISTS_MAX))
			continue;
		expected = runlist_skeleton(read_runlist(gpu, runlists[0],
							 4096));
		for (size_t reader = 0; reader < 2; reader++) {
			int pid = ktap_fork();

			pids[started++] = pid;
			if (pid)
				continue;
			for (int round = 0; round < ROUNDS; round++)
				expect_structure(gpu, runlists[0], expected,
						 piece_sizes[1 + reader]);
			ktap_end();
		}
	}
	if (!started)
		ktap_skip("no GPU has runlist files");
	while (started)
		ktap_wait(pids[--started]);
}

/* Readers that inherited one open file see the same bytes at each offset. */
static void test_shared_pread(const struct gpu *gpu)
{
	unsigned int runlists[RUNLISTS_MAX];
	size_t size;
	int pids[READERS], fd;
	char file[32], *text;

	need_runlists(gpu, runlists);
	snprintf(file, sizeof(file), "runlist%u", runlists[0]);
	fd = gpu_open(gpu, file, O_RDONLY);
	ASSERT(fd >= 0, "%s: open: %s", file, strerror(errno));
	text = read_to_end(fd, &size);
	ASSERT(text, "%s: read: %s", file, strerror(errno));
	for (size_t reader = 0; reader < READERS; reader++) {
		size_t step = size / 300 + 11 + 2 * reader;

		pids[reader] = ktap_fork();
		if (pids[reader])
			continue;
		for (size_t at = 0; at < size; at += step) {
			size_t piece = 1 + (at + reader) % 97;
			char buffer[97];
			ssize_t got = pread(fd, buffer, piece, (off_t)at);

			ASSERT(got > 0, "%s: pread at %zu: %zd", file, at, got);
			EXPECT(!memcmp(buffer, text + at, (size_t)got),
			       "%s: reader %zu differs at %zu", file, reader,
			       at);
		}
		ktap_end();
	}
	for (size_t reader = 0; reader < READERS; reader++)
		ktap_wait(pids[reader]);
}

/* Readers that share an offset get each byte once between them. */
static void test_shared_offset(const struct gpu *gpu)
{
	unsigned int runlists[RUNLISTS_MAX];
	size_t size, total = 0;
	int pids[READERS], fd, report[2];
	char file[32], *text;

	need_runlists(gpu, runlists);
	snprintf(file, sizeof(file), "runlist%u", runlists[0]);
	fd = gpu_open(gpu, file, O_RDONLY);
	ASSERT(fd >= 0, "%s: open: %s", file, strerror(errno));
	text = read_to_end(fd, &size);
	ASSERT(text && !lseek(fd, 0, SEEK_SET) && !pipe(report), "%s: %s", file,
	       strerror(errno));
	for (size_t reader = 0; reader < READERS; reader++) {
		char buffer[64];
		size_t mine = 0;
		ssize_t got;

		pids[reader] = ktap_fork();
		if (pids[reader])
			continue;
		while ((got = read(fd, buffer, 1 + 7 * reader)) > 0 &&
		       mine <= size)
			mine += (size_t)got;
		EXPECT(got == 0, "%s: read: %zd", file, got);
		EXPECT(write(report[1], &mine, sizeof(mine)) == sizeof(mine),
		       "pipe: %s", strerror(errno));
		ktap_end();
	}
	for (size_t reader = 0; reader < READERS; reader++) {
		size_t mine = 0;

		ktap_wait(pids[reader]);
		EXPECT(read(report[0], &mine, sizeof(mine)) == sizeof(mine),
		       "pipe: %s", strerror(errno));
		total += mine;
	}
	EXPECT(total == size, "%s: %zu of %zu bytes between them", file, total,
	       size);
}

/* Each writer has a channel of its own, and no other writer touches it. */
static void toggle(const struct gpu *gpu, const struct channel *channel)
{
	for (int round = 0; round < ROUNDS; round++) {
		set_enabled(gpu, channel, false);
		EXPECT(!is_enabled(gpu, channel),
		       "round %d: %u:%u is enabled after disable", round,
		       channel->runlist, channel->id);
		set_enabled(gpu, channel, true);
		EXPECT(is_enabled(gpu, channel),
		       "round %d: %u:%u is disabled after enable", round,
		       channel->runlist, channel->id);
	}
}

static void test_writers(const struct gpu *gpu)
{
	struct channels channels = enabled_channels(gpu, 2);
	size_t writers = channels.count < READERS ? channels.count : READERS;
	struct channels after;
	int pids[READERS];

	for (size_t i = 0; i < writers; i++) {
		pids[i] = ktap_fork();
		if (pids[i])
			continue;
		toggle(gpu, &channels.at[i]);
		ktap_end();
	}
	for (size_t i = 0; i < writers; i++)
		ktap_wait(pids[i]);
	after = enabled_channels(gpu, 0);
	EXPECT(channels_same(&channels, &after), "the writers left traces");
}

static const struct suite_test tests[] = {
	{ "opens", "readers of all runlists, each with its own opens",
	  test_opens, 0 },
	{ "all_gpus", "readers of all GPUs at once", test_all_gpus, SUITE_ALL },
	{ "shared_pread", "preads of one snapshot from several processes",
	  test_shared_pread, 0 },
	{ "shared_offset", "processes that read on from each other",
	  test_shared_offset, 0 },
	{ "writers", "writers of different channels do not disturb each other",
	  test_writers, SUITE_CONTROLS },
};

int main(int argc, char **argv)
{
	return SUITE_MAIN(argc, argv, tests);
}
