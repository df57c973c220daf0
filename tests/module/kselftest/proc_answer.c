// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Tests of the files translate and set_timeslice, which answer a request
 * through the open file that it was written to. tests/module/core tests the
 * answers and refusals themselves.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "boxes.h"
#include "state.h"
#include "suite.h"
#include "tree.h"

#define TRANSLATE "translate"
#define REQUEST_MAX 120
#define BYTES_MAX 4095

/* An answering file with two requests that it answers differently. */
struct asked {
	const char *file;
	char text[2][REQUEST_MAX];
};

/* ---- page directories that runlists show ---- */

struct directory {
	char address[32];
	char aperture[8];
};

/* Finds the page directory of the last channel that shows its own. */
static bool find_directory(const struct gpu *gpu, struct directory *found)
{
	unsigned int runlists[RUNLISTS_MAX];
	size_t count = gpu_runlists(gpu, runlists, RUNLISTS_MAX);
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		char *text = gpu_runlist(gpu, runlists[i]);
		const char *at = text;
		struct directory one = { 0 };
		enum box_kind kind = BOX_KINDS;
		struct line line;

		while (next_line(&at, &line)) {
			if (line.title)
				kind = line.kind;
			if (kind != BOX_INSTANCE)
				continue;
			if (!strcmp(line.key, "Page Directory"))
				snprintf(one.address, sizeof(one.address),
					 "%.31s", line.value);
			if (!strcmp(line.key, "Page Directory Aperture"))
				snprintf(one.aperture, sizeof(one.aperture),
					 "%.7s", line.value);
			if (!strcmp(line.key, "Subcontexts")) {
				*found = one;
				any = true;
			}
		}
		free(text);
	}
	return any;
}

/* ---- requests and answers ---- */

static int open_asked(const struct gpu *gpu, const char *file)
{
	int fd = gpu_open(gpu, file, O_RDWR);

	ASSERT(fd >= 0, "%s: open: %s", file, strerror(errno));
	return fd;
}

static int ask(int fd, const char *request)
{
	ssize_t written = write(fd, request, strlen(request));

	return written == (ssize_t)strlen(request) ? 0 : errno;
}

/*
 * Returns the whole answer from the present offset. Ends the test without an
 * answer.
 */
static char *answer(int fd, const char *file, size_t *size)
{
	char *text = read_to_end(fd, size);

	ASSERT(text && text[0], "%s: no answer: %s", file,
	       text ? "nothing to read" : strerror(errno));
	return text;
}

static void expect_no_data(int fd, const char *file, const char *when)
{
	char byte;
	ssize_t got = read(fd, &byte, 1);

	EXPECT(got < 0 && errno == ENODATA, "%s: read %s: %s", file, when,
	       got < 0 ? strerror(errno) : "something");
	got = pread(fd, &byte, 1, 0);
	EXPECT(got < 0 && errno == ENODATA, "%s: pread %s: %s", file, when,
	       got < 0 ? strerror(errno) : "something");
}

#define ASKED 2

static void all_asked(const struct gpu *gpu, struct asked asked[ASKED])
{
	struct directory directory;
	struct tsgs tsgs;

	need_file(gpu, TRANSLATE);
	need_file(gpu, TIMESLICE);
	tsgs = gpu_tsgs(gpu);
	ASSERT(tsgs.count && find_directory(gpu, &directory),
	       "no TSG and no instance block to ask about");
	asked[0].file = TRANSLATE;
	for (int i = 0; i < 2; i++)
		snprintf(asked[0].text[i], REQUEST_MAX, "%s:%s %#x",
			 directory.address, directory.aperture,
			 0x200000 * (i + 1));
	asked[1].file = TIMESLICE;
	/* The second request leaves the TSG with its old timeslice. */
	snprintf(asked[1].text[0], REQUEST_MAX, "%u:%u 500",
		 tsgs.at[0].runlist, tsgs.at[0].id);
	snprintf(asked[1].text[1], REQUEST_MAX, "%u:%u %s",
		 tsgs.at[0].runlist, tsgs.at[0].id, tsgs.at[0].timeslice);
	free(tsgs.at);
}

/* ---- tests of both files ---- */

static void test_no_data(const struct gpu *gpu)
{
	struct asked asked[ASKED];

	all_asked(gpu, asked);
	for (size_t i = 0; i < ASKED; i++) {
		int fd = open_asked(gpu, asked[i].file);

		expect_no_data(fd, asked[i].file, "before a request");
		close(fd);
		fd = gpu_open(gpu, asked[i].file, O_RDONLY);
		if (fd < 0)
			continue;
		expect_no_data(fd, asked[i].file, "without a request");
		close(fd);
	}
}

/* An answer is read from its first byte on, wherever the file stood before. */
static void test_again(const struct gpu *gpu)
{
	struct asked asked[ASKED];

	all_asked(gpu, asked);
	for (size_t i = 0; i < ASKED; i++) {
		const char *file = asked[i].file;
		char *expected[2] = { NULL, NULL };
		int fd = open_asked(gpu, file);

		for (int step = 0; step < 6; step++) {
			int which = step % 2, error;
			char *text, some[7];

			error = ask(fd, asked[i].text[which]);
			ASSERT(!error, "%s: \"%s\": %s", file,
			       asked[i].text[which], strerror(error));
			if (step == 3) {
				/*
				 * The answer is read in part, and then the next
				 * request is made.
				 */
				EXPECT(read(fd, some, 7) == 7, "%s: read",
				       file);
				continue;
			}
			text = answer(fd, file, NULL);
			/*
			 * The first answers of set_timeslice show the old
			 * timeslice.
			 */
			if (!expected[which] || step < 2)
				expected[which] = text;
			EXPECT(strcmp(file, TRANSLATE) ||
			       !strcmp(text, expected[which]),
			       "%s: \"%s\" is answered differently", file,
			       asked[i].text[which]);
		}
		EXPECT(strcmp(expected[0], expected[1]),
		       "%s: the same answer to both", file);
		close(fd);
	}
}

/* The answer has the same bytes in pieces of any size, and in a second read. */
static void test_pieces(const struct gpu *gpu)
{
	struct asked asked[ASKED];

	all_asked(gpu, asked);
	for (size_t i = 0; i < ASKED; i++) {
		const char *file = asked[i].file;
		int fd = open_asked(gpu, file);
		char *text, byte[3];
		size_t size;

		ASSERT(!ask(fd, asked[i].text[1]), "%s: \"%s\": %s", file,
		       asked[i].text[1], strerror(errno));
		for (size_t at = 0; read(fd, byte, 1) == 1; at++)
			ASSERT(at < 100000, "%s: has no end", file);
		ASSERT(lseek(fd, 0, SEEK_SET) == 0, "%s: lseek: %s", file,
		       strerror(errno));
		text = answer(fd, file, &size);
		EXPECT(text[size - 1] == '\n' && strlen(text) == size,
		       "%s: is no text", file);
		EXPECT(read(fd, byte, 1) == 0, "%s: goes on at its end", file);
		for (size_t at = size; at-- > 0;)
			EXPECT(pread(fd, byte, 1, (off_t)at) == 1 &&
			       byte[0] == text[at], "%s: pread at %zu", file,
			       at);
		EXPECT(pread(fd, byte, 3, (off_t)size) == 0 &&
		       pread(fd, byte, 3, (off_t)size + 5000) == 0,
		       "%s: something beyond its end", file);
		close(fd);
		free(text);
	}
}

/*
 * Two open files keep their own answers; a third file without a request has
 * none.
 */
static void test_independent(const struct gpu *gpu)
{
	struct asked asked[ASKED];

	all_asked(gpu, asked);
	for (size_t i = 0; i < ASKED; i++) {
		const char *file = asked[i].file;
		int fds[3];
		char *first, *again;

		for (int f = 0; f < 3; f++)
			fds[f] = open_asked(gpu, file);
		ASSERT(!ask(fds[0], asked[i].text[0]), "%s: ask: %s", file,
		       strerror(errno));
		first = answer(fds[0], file, NULL);
		ASSERT(!ask(fds[1], asked[i].text[1]), "%s: ask: %s", file,
		       strerror(errno));
		expect_no_data(fds[2], file, "of what was not asked");
		lseek(fds[0], 0, SEEK_SET);
		again = answer(fds[0], file, NULL);
		EXPECT(!strcmp(first, again),
		       "%s: another file's request changed the answer", file);
		EXPECT(strcmp(answer(fds[1], file, NULL), first),
		       "%s: both files have one answer", file);
		for (int f = 0; f < 3; f++)
			close(fds[f]);
	}
}

/* A refused request leaves nothing of the answer before it. */
static void test_refused(const struct gpu *gpu)
{
	static const char *const junk[] = { "x", "0", "", "0 0 0 0 0" };
	struct asked asked[ASKED];

	all_asked(gpu, asked);
	for (size_t i = 0; i < ASKED; i++) {
		const char *file = asked[i].file;
		int fd = open_asked(gpu, file);

		for (size_t j = 0; j < sizeof(junk) / sizeof(*junk); j++) {
			ASSERT(!ask(fd, asked[i].text[1]), "%s: ask: %s", file,
			       strerror(errno));
			EXPECT(write(fd, junk[j], strlen(junk[j])) < 0,
			       "%s: \"%s\" is taken", file, junk[j]);
			expect_no_data(fd, file, "after a refused request");
		}
		ASSERT(!ask(fd, asked[i].text[1]), "%s: ask: %s", file,
		       strerror(errno));
		free(answer(fd, file, NULL));
		close(fd);
	}
}

/* Processes that share an open file share the answer. */
static void test_inherited(const struct gpu *gpu)
{
	struct asked asked[ASKED];

	all_asked(gpu, asked);
	for (size_t i = 0; i < ASKED; i++) {
		const char *file = asked[i].file;
		int fd = open_asked(gpu, file), pid = ktap_fork();
		char *text;

		if (!pid) {
			ASSERT(!ask(fd, asked[i].text[1]), "%s: ask: %s", file,
			       strerror(errno));
			free(answer(fd, file, NULL));
			ktap_end();
		}
		ktap_wait(pid);
		lseek(fd, 0, SEEK_SET);
		text = answer(fd, file, NULL);
		EXPECT(text[strlen(text) - 1] == '\n', "%s: is no text", file);
		free(text);
		close(fd);
	}
}

/* ---- sizes of writes ---- */

static void refuse(const struct gpu *gpu, int fd, const void *bytes,
		   size_t size, int error)
{
	struct asked asked[ASKED];

	all_asked(gpu, asked);
	EXPECT(!ask(fd, asked[0].text[0]), "ask: %s", strerror(errno));
	EXPECT(syscall(SYS_write, fd, bytes, size) < 0 && errno == error,
	       "%zu bytes: %s, want %s", size, strerror(errno),
	       strerror(error));
	expect_no_data(fd, TRANSLATE, "after that");
}

/* A bad buffer and too many bytes are refused. */
static void test_limits(const struct gpu *gpu)
{
	static char text[1 << 14];
	int fd;

	need_file(gpu, TRANSLATE);
	fd = open_asked(gpu, TRANSLATE);
	memset(text, ' ', sizeof(text));
	memcpy(text, "0x1000 0", 8);
	refuse(gpu, fd, text, sizeof(text), E2BIG);
	refuse(gpu, fd, text, BYTES_MAX + 1, E2BIG);
	refuse(gpu, fd, (const void *)16, 4, EFAULT);
	close(fd);
}

static const struct suite_test tests[] = {
	{ "no_data", "nothing to read before a request", test_no_data, 0 },
	{ "again", "each request is answered from its beginning", test_again,
	  SUITE_CONTROLS },
	{ "pieces", "an answer is the same in whatever pieces", test_pieces,
	  SUITE_CONTROLS },
	{ "independent", "open files have their own answers",
	  test_independent, SUITE_CONTROLS },
	{ "refused", "a refused request leaves no answer", test_refused,
	  SUITE_CONTROLS },
	{ "inherited", "processes share an open file's answer",
	  test_inherited, SUITE_CONTROLS },
	{ "limits", "bad buffers and requests that are too long", test_limits,
	  SUITE_CONTROLS },
};

int main(int argc, char **argv)
{
	return SUITE_MAIN(argc, argv, tests);
}
