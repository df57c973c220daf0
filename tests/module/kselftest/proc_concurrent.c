// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Tests with many readers and writers at once. Time passes on a GPU between two
 * opens, so between opens only the structure of a runlist is compared.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "boxes.h"
#include "state.h"
#include "suite.h"
#include "tree.h"

#define READERS 4
#define ROUNDS 8

/* The sizes differ, so that the readers get out of step. */
static const size_t piece_sizes[READERS] = { 1, 37, 1021, 65536 };

/*
 * Reads a file in a few thousand pieces at most, so that long runlists take no
 * ages.
 */
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

/* All readers open and read all runlists, each beginning with another one. */
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

/* All readers read one runlist, of all GPUs at once. */
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

/* ---- reading while lists and TSGs are changed ---- */

/*
 * Returns the titles of a list's boxes. No control except for switch_to_tsg
 * changes them.
 */
static char *titles_of(const char *text)
{
	char *titles = malloc(strlen(text) + 1), *at = titles;
	struct line line;

	ASSERT(titles, "no memory for titles");
	while (next_line(&text, &line))
		if (line.title && line.kind < BOX_INSTANCE)
			at += sprintf(at, "%s\n", line.text);
	*at = '\0';
	return titles;
}

/*
 * Reads a file, several times if necessary: another list may come and go during
 * each try of the reader.
 */
static char *read_while_it_moves(const struct gpu *gpu, const char *file)
{
	char *text;

	for (int tries = 0; tries < 10; tries++) {
		text = gpu_read(gpu, file, NULL);
		if (text || errno != EBUSY)
			break;
	}
	return text;
}

/*
 * Expects that the file is well formed, and its titles are those of one list.
 */
static void read_one_list(const struct gpu *gpu, const char *file,
			  const char *whole, const char *part)
{
	char *titles, *text = read_while_it_moves(gpu, file);
	const char *fault;
	struct line line;

	ASSERT(text, "%s: %s", file, strerror(errno));
	fault = boxes_fault(text, &line);
	EXPECT(!fault, "%s: %s: \"%s\"", file, fault, line.text);
	titles = titles_of(text);
	if (strcmp(titles, whole) && (!part || strcmp(titles, part)) &&
	    !strstr(text, " torn ")) {
		EXPECT(false, "%s: neither list", file);
		ktap_note_difference(whole, titles);
	}
	free(titles);
	free(text);
}

/* Reads all files that can be read. */
static void read_all(const struct gpu *gpu, unsigned int runlist,
		     const char *whole, const char *part)
{
	static struct files files;
	char file[48], *text;

	snprintf(file, sizeof(file), "runlist%u", runlist);
	read_one_list(gpu, file, whole, part);
	snprintf(file, sizeof(file), "runlist%u_brief", runlist);
	read_one_list(gpu, file, whole, part);
	if (!files.count)
		gpu_texts(gpu, 0400, &files);
	for (size_t i = 0; i < files.count; i++) {
		if (file_is(files.name[i], FILE_UNCONNECTED) ||
		    !strncmp(files.name[i], "runlist", 7))
			continue;
		text = gpu_read(gpu, files.name[i], NULL);
		/* The lists may move all the time while the file is read. */
		if (!text && errno == EBUSY &&
		    !strcmp(files.name[i], "contexts"))
			continue;
		EXPECT(text && *text, "%s: %s", files.name[i],
		       strerror(errno));
		free(text);
	}
}

static void ask_translate(const struct gpu *gpu, const struct channel *channel)
{
	int fd = gpu_open(gpu, "translate", O_RDWR);
	char request[TARGET_MAX + 20], *text;

	if (fd < 0)
		return;
	sprintf(request, "%u:%u 0x200000 base", channel->runlist, channel->id);
	EXPECT(write(fd, request, strlen(request)) == (ssize_t)strlen(request),
	       "translate: \"%s\": %s", request, strerror(errno));
	text = read_to_end(fd, NULL);
	EXPECT(text && strstr(text, "\nerror: "), "translate: no answer: %s",
	       text ? text : strerror(errno));
	free(text);
	close(fd);
}

/* Writes the request of this writer and round. It has to be taken. */
static void write_round(const struct gpu *gpu, size_t writer, int round,
			const struct tsg *tsg)
{
	int error = 0;

	switch (writer) {
	case 0:
		error = control_format(gpu, round % 2 ? RESUBMIT :
				       PREEMPT_RUNLIST, "%u", tsg->runlist);
		break;
	case 1:
		error = control_format(gpu, SCHEDULING, "%u %s", tsg->runlist,
				       round % 2 ? "on" : "off");
		break;
	case 2:
		error = control_format(gpu, PREEMPT_TSG, "%u:%u", tsg->runlist,
				       tsg->id);
		break;
	default:
		error = control_format(gpu, TIMESLICE, "%u:%u %s",
				       tsg->runlist, tsg->id,
				       round % 2 ? tsg->timeslice : "500");
		break;
	}
	EXPECT(!error, "writer %zu, round %d: %s", writer, round,
	       strerror(error));
}

#define WRITERS 5

/* Writers 3 and 4 change timeslices of two TSGs of one list. */
static void test_lists(const struct gpu *gpu)
{
	struct state before;
	const struct tsg *tsgs;
	char *text, *titles;
	int pids[WRITERS + READERS];

	need_file(gpu, TIMESLICE);
	before = state_read(gpu);
	tsgs = before.tsgs.at;
	if (before.tsgs.count < 2 || tsgs[0].runlist != tsgs[1].runlist)
		ktap_skip("%s has no runlist with two TSGs", gpu->name);
	text = gpu_runlist(gpu, tsgs->runlist);
	titles = titles_of(text);
	free(text);
	for (size_t i = 0; i < WRITERS + READERS; i++) {
		pids[i] = ktap_fork();
		if (pids[i])
			continue;
		for (int round = 0; round < 2 * ROUNDS; round++) {
			if (i < WRITERS) {
				write_round(gpu, i, round, &tsgs[i == 4]);
				continue;
			}
			read_all(gpu, tsgs->runlist, titles, NULL);
			ask_translate(gpu, &before.channels.at[0]);
		}
		ktap_end();
	}
	for (size_t i = 0; i < WRITERS + READERS; i++)
		ktap_wait(pids[i]);
	state_expect(gpu, &before, "after the writers");
}

/* While one TSG gets and loses its list, readers find one list or the other. */
static void test_switches(const struct gpu *gpu)
{
	struct state before;
	const struct tsg *tsg;
	char *text, *whole, *part;
	int pids[READERS + 1];

	need_file(gpu, SWITCH);
	before = state_read(gpu);
	ASSERT(before.tsgs.count, "no TSG to switch to");
	tsg = &before.tsgs.at[0];
	text = gpu_runlist(gpu, tsg->runlist);
	whole = titles_of(text);
	free(text);
	ASSERT(!control_format(gpu, SWITCH, "%u:%u", tsg->runlist, tsg->id),
	       "switch: %s", strerror(errno));
	text = gpu_runlist(gpu, tsg->runlist);
	part = titles_of(text);
	free(text);
	for (size_t i = 0; i < READERS + 1; i++) {
		pids[i] = ktap_fork();
		if (pids[i])
			continue;
		for (int round = 0; round < 2 * ROUNDS; round++) {
			int error;

			if (i) {
				read_all(gpu, tsg->runlist, whole, part);
				continue;
			}
			error = control_format(gpu, RESUBMIT, "%u",
					       tsg->runlist);
			EXPECT(!error, "resubmit: %s", strerror(error));
			error = control_format(gpu, SWITCH, "%u:%u",
					       tsg->runlist, tsg->id);
			EXPECT(!error, "switch: %s", strerror(error));
		}
		ktap_end();
	}
	for (size_t i = 0; i < READERS + 1; i++)
		ktap_wait(pids[i]);
	control_format(gpu, RESUBMIT, "%u", tsg->runlist);
	state_expect(gpu, &before, "after the switches");
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
	{ "lists", "readers of everything while lists and TSGs are changed",
	  test_lists, SUITE_CONTROLS },
	{ "switches", "readers while one TSG gets and loses its list",
	  test_switches, SUITE_CONTROLS },
};

int main(int argc, char **argv)
{
	return SUITE_MAIN(argc, argv, tests);
}
