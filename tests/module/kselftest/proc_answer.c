// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Files that answer what was written through the same open file: translate and
 * set_timeslice.
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
	unsigned int runlist;
	unsigned int channel;
	char address[32];
	char aperture[8];
	bool subcontexts; /* then compute work may use another one */
};

/* The last channel that shows one of its own. */
static bool find_directory(const struct gpu *gpu, struct directory *found)
{
	unsigned int runlists[RUNLISTS_MAX];
	size_t count = gpu_runlists(gpu, runlists, RUNLISTS_MAX);
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		char *text = gpu_runlist(gpu, runlists[i]);
		const char *at = text;
		struct directory one = { .runlist = runlists[i] };
		enum box_kind kind = BOX_KINDS;
		struct line line;

		while (next_line(&at, &line)) {
			if (line.title)
				kind = line.kind;
			if (line.title && kind == BOX_CHANNEL)
				one.channel = line.number;
			if (kind != BOX_INSTANCE)
				continue;
			if (!strcmp(line.key, "Page Directory"))
				snprintf(one.address, sizeof(one.address),
					 "%.31s", line.value);
			if (!strcmp(line.key, "Page Directory Aperture"))
				snprintf(one.aperture, sizeof(one.aperture),
					 "%.7s", line.value);
			if (!strcmp(line.key, "Subcontexts")) {
				one.subcontexts = line.value[0] != '-';
				*found = one;
				any = true;
			}
		}
		free(text);
	}
	return any;
}

/* ---- asking ---- */

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

/* The whole answer from where the file stands; the test ends without one. */
static char *answer(int fd, const char *file, size_t *size)
{
	char *text = read_to_end(fd, size);

	ASSERT(text && text[0], "%s: no answer: %s", file,
	       text ? "nothing to read" : strerror(errno));
	return text;
}

static char *ask_once(const struct gpu *gpu, const char *file,
		      const char *request)
{
	int fd = open_asked(gpu, file), error = ask(fd, request);
	char *text;

	ASSERT(!error, "%s: \"%s\": %s", file, request, strerror(error));
	text = answer(fd, file, NULL);
	close(fd);
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
	/* The second one leaves the TSG as it was. */
	snprintf(asked[1].text[0], REQUEST_MAX, "%u:%u 500",
		 tsgs.at[0].runlist, tsgs.at[0].id);
	snprintf(asked[1].text[1], REQUEST_MAX, "%u:%u %s",
		 tsgs.at[0].runlist, tsgs.at[0].id, tsgs.at[0].timeslice);
	free(tsgs.at);
}

/* ---- all of them ---- */

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

/* From its first byte on, wherever the file stood before. */
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
				/* Half read, and then asked again. */
				EXPECT(read(fd, some, 7) == 7, "%s: read",
				       file);
				continue;
			}
			text = answer(fd, file, NULL);
			/* set_timeslice first has what was before. */
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

/* The same bytes in whatever pieces, and again. */
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

/* Two open files keep their own answers; what was not asked has none. */
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

/* ---- translate ---- */

/* The value of "key: value" in an answer; "" if it has none. */
static void value_of(const char *text, const char *key, char value[VALUE_MAX])
{
	size_t length = strlen(key);

	value[0] = '\0';
	while (*text) {
		size_t line = strcspn(text, "\n");

		if (!strncmp(text, key, length) &&
		    !strncmp(text + length, ": ", 2)) {
			snprintf(value, VALUE_MAX, "%.*s",
				 (int)(line - length - 2), text + length + 2);
			return;
		}
		text += line + (text[line] == '\n');
	}
}

static void test_walk(const struct gpu *gpu)
{
	static const char *const keys[] = { "virtual_address", "page_directory",
		"page_tables", "result", "page_size", "flags", "error" };
	static const unsigned long addresses[] = { 0, 0x1000, 0x200000,
		0x12345678, 0x7fffffffff, 0xffffffffff };
	struct directory directory;
	char value[VALUE_MAX], request[REQUEST_MAX];

	need_file(gpu, TRANSLATE);
	ASSERT(find_directory(gpu, &directory), "no instance block is shown");
	for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
		char *text, result[VALUE_MAX], error[VALUE_MAX];

		snprintf(request, sizeof(request), "%s:%s %#lx",
			 directory.address, directory.aperture, addresses[i]);
		text = ask_once(gpu, TRANSLATE, request);
		for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++) {
			value_of(text, keys[k], value);
			EXPECT(value[0], "\"%s\": no %s", request, keys[k]);
		}
		value_of(text, "virtual_address", value);
		EXPECT(strtoul(value, NULL, 0) == addresses[i],
		       "\"%s\": is about %s", request, value);
		value_of(text, "page_directory", value);
		EXPECT(strtoul(value, NULL, 0) ==
		       strtoul(directory.address, NULL, 0) &&
		       strstr(value, directory.aperture), "\"%s\": walks %s",
		       request, value);
		value_of(text, "result", result);
		value_of(text, "error", error);
		EXPECT(!strcmp(result, "-") == !!strcmp(error, "-"),
		       "\"%s\": result %s, error %s", request, result, error);
		free(text);
	}
}

/* The answer for a channel's directory is that for its number. */
static void test_by_channel(const struct gpu *gpu)
{
	struct directory directory;
	char channel[REQUEST_MAX], page_directory[REQUEST_MAX], *a, *b;

	need_file(gpu, TRANSLATE);
	ASSERT(find_directory(gpu, &directory), "no instance block is shown");
	snprintf(channel, sizeof(channel), "%u:%u 0x200000 base",
		 directory.runlist, directory.channel);
	snprintf(page_directory, sizeof(page_directory), "%s:%s 0x200000",
		 directory.address, directory.aperture);
	a = ask_once(gpu, TRANSLATE, channel);
	b = ask_once(gpu, TRANSLATE, page_directory);
	if (strcmp(a, b)) {
		EXPECT(false, "\"%s\" and \"%s\" differ", channel,
		       page_directory);
		ktap_note_difference(a, b);
	}
	snprintf(channel, sizeof(channel), "%u:%u 0x200000\n",
		 directory.runlist, directory.channel);
	free(ask_once(gpu, TRANSLATE, channel));
	free(a);
	free(b);
}

static void refuse(int fd, const char *request, int error, int or_error)
{
	int got = ask(fd, request);

	EXPECT(got == error || (or_error && got == or_error),
	       "\"%.60s\": %s, want %s", request,
	       got ? strerror(got) : "taken", strerror(error));
	expect_no_data(fd, TRANSLATE, "after that");
}

static void test_junk(const struct gpu *gpu)
{
	static const char *const junk[] = {
		"", " ", "\n", "x", "0x1000", "x 0", "0x1000 x", "0x1000 0 x",
		"0x1000:vid", "0x1000:bad 0", "0x1000: 0", ":vid 0",
		"0x1000:vid 0 base", "0x1000 0 v4", "0x1000 0 v0",
		"0x1000 0 4k", "0x1000 0 0", "0x1000:vid:vid 0", "0x1000 -1x",
		"0x1000 0x", "1000:0 0", "0:0 0 v2", "0:0 0 based", "0:0",
		"0x1000, 0", "0x1001 0", "0x1000 0 v2 v2 v2", "0:99999 0",
	};
	static char long_text[1 << 14];
	struct directory directory;
	char text[REQUEST_MAX];
	int fd;

	need_file(gpu, TRANSLATE);
	ASSERT(find_directory(gpu, &directory), "no instance block is shown");
	fd = open_asked(gpu, TRANSLATE);
	for (size_t i = 0; i < sizeof(junk) / sizeof(*junk); i++)
		refuse(fd, junk[i], EINVAL, 0);
	refuse(fd, "0x1000 100000000000000000000", ERANGE, 0);
	refuse(fd, "0x1000 0x0200000000000000", ERANGE, 0);
	refuse(fd, "100000000000000000000 0", ERANGE, 0);
	refuse(fd, "0x10000000000000000 0", ERANGE, 0);
	snprintf(text, sizeof(text), "%u:%lu 0", directory.runlist,
		 gpu_info_number(gpu, "channels") - 1);
	refuse(fd, text, EINVAL, 0);
	snprintf(text, sizeof(text), "%u:%u 0x0200000000000000",
		 directory.runlist, directory.channel);
	refuse(fd, text, ERANGE, 0);
	if (gpu_generation(gpu) >= VOLTA)
		refuse(fd, "0x1000 0 v1", EINVAL, 0);
	memset(long_text, ' ', sizeof(long_text) - 1);
	memcpy(long_text, "0x1000 0", 8);
	refuse(fd, long_text, E2BIG, EINVAL);
	long_text[BYTES_MAX + 1] = '\0';
	refuse(fd, long_text, E2BIG, EINVAL);
	EXPECT(syscall(SYS_write, fd, 16L, 4L) < 0 && errno == EFAULT,
	       "a bad buffer: %s", strerror(errno));
	expect_no_data(fd, TRANSLATE, "after a bad buffer");
	EXPECT(write(fd, "0x1000 0", 9) < 0 && errno == EINVAL,
	       "a zero byte: %s", strerror(errno));
	close(fd);
}

/* Version 1 has 40 bits, 2 has 49, 3 has 57; all take the sign-extended form. */
static void test_range(const struct gpu *gpu)
{
	char version[VALUE_MAX], text[REQUEST_MAX];
	struct directory directory;
	int bits, fd;

	need_file(gpu, TRANSLATE);
	ASSERT(find_directory(gpu, &directory), "no instance block is shown");
	gpu_info(gpu, "page_tables", version);
	bits = version[strlen(version) - 1] == '1' ? 40 :
	       version[strlen(version) - 1] == '2' ? 49 : 57;
	fd = open_asked(gpu, TRANSLATE);
	snprintf(text, sizeof(text), "%s %#lx", directory.address,
		 (1UL << bits) - 1);
	EXPECT(!ask(fd, text), "\"%s\": %s", text, strerror(errno));
	free(answer(fd, TRANSLATE, NULL));
	snprintf(text, sizeof(text), "%s %#lx", directory.address,
		 1UL << bits);
	refuse(fd, text, ERANGE, 0);
	if (bits > 40) {
		snprintf(text, sizeof(text), "%s %#lx", directory.address,
			 ~0UL << (bits - 1));
		EXPECT(!ask(fd, text), "\"%s\": %s", text, strerror(errno));
		free(answer(fd, TRANSLATE, NULL));
	}
	snprintf(text, sizeof(text), "%s %#lx", directory.address,
		 ~0UL << (bits + 1));
	refuse(fd, text, ERANGE, 0);
	close(fd);
}

/* ---- set_timeslice ---- */

static void test_timeslice(const struct gpu *gpu)
{
	static const struct {
		const char *asked, *got;
		unsigned int timeout, scale;
	} values[] = {
		{ "1.024", "1.024", 1, 0 }, { "3.000", "2.048", 2, 0 },
		{ "261.900", "261.120", 255, 0 },
		{ "1500.000", "1499.136", 183, 3 },
		{ "8556380.160", "8556380.160", 255, 15 },
	};
	struct tsgs tsgs;
	const struct tsg *tsg;
	const char *old;
	char request[REQUEST_MAX];
	size_t headers = 0;

	need_file(gpu, TIMESLICE);
	tsgs = gpu_tsgs(gpu);
	ASSERT(tsgs.count, "no TSG to ask about");
	tsg = &tsgs.at[0];
	for (size_t i = 0; i < tsgs.count; i++)
		headers += tsgs.at[i].runlist == tsg->runlist &&
			   tsgs.at[i].id == tsg->id;
	old = tsg->timeslice;
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		char expected[600], *text;

		snprintf(request, sizeof(request), "%u:%u %s", tsg->runlist,
			 tsg->id, values[i].asked);
		text = ask_once(gpu, TIMESLICE, request);
		snprintf(expected, sizeof(expected),
			 "runlist: %u\ntsg: %u\nasked_us: %s\nold_us: %s\n"
			 "new_us: %s\ntimeout: %u\nscale: %u\nheaders: %zu\n",
			 tsg->runlist, tsg->id, values[i].asked, old,
			 values[i].got, values[i].timeout, values[i].scale,
			 headers);
		EXPECT(!strcmp(text, expected), "another answer than expected");
		if (strcmp(text, expected))
			ktap_note_difference(expected, text);
		free(text);
		old = values[i].got;
	}
	snprintf(request, sizeof(request), "%u:%u %s", tsg->runlist, tsg->id,
		 tsg->timeslice);
	free(ask_once(gpu, TIMESLICE, request));
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
	{ "walk", "translate's keys, and result or error", test_walk, 0 },
	{ "by_channel", "a channel's number finds its page directory",
	  test_by_channel, 0 },
	{ "junk", "what is no request is refused", test_junk, 0 },
	{ "range", "virtual addresses end where the version's do",
	  test_range, 0 },
	{ "timeslice", "set_timeslice tells what is in force", test_timeslice,
	  SUITE_CONTROLS },
};

int main(int argc, char **argv)
{
	return SUITE_MAIN(argc, argv, tests);
}
