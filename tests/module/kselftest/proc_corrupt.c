// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Tests with nonsense in the GPU's memory. The model behind the GPU flips bits
 * in runlists, instance blocks, page tables and context images, one seed after
 * the other. Each read then ends in time, and gives printable text of a bounded
 * size without anything of the kernel's memory. tests/module/core tests the
 * form of the texts, and controls on nonsense (corruption_test.cpp,
 * controls_test.cpp).
 *
 * proc_corrupt [--first SEED] [--last SEED] [--flips COUNT] [NAME]...
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "boxes.h"
#include "model.h"
#include "options.h"
#include "suite.h"
#include "tree.h"

#define TRANSLATE "translate"
/* An open, a write or a read that takes this long hangs. */
#define DEADLINE_S 30
#define COMPARE_EVERY 100
#define REPORT_EVERY 1000
#define ADDRESSES_MAX 6
#define DIRECTORIES_MAX 4
#define REQUEST_MAX 120
/*
 * Walks for each seed. They take turns among all requests, because a walk costs
 * as much as a small list.
 */
#define WALKS_A_SEED 6
#define CHANNELS_LINE 4096
#define WALK_BYTES 4000

static unsigned long first_seed = 1, last_seed = 30, flips = 8;

/*
 * A file that is read again and again. All are read once before the first seed.
 */
struct subject {
	char file[48];
	bool boxes;
	size_t most; /* bytes */
	char *original; /* the file's steady part before */
};

static struct subject subjects[2 * RUNLISTS_MAX + 2];
static size_t subject_count;
static char requests[DIRECTORIES_MAX * ADDRESSES_MAX + 8][REQUEST_MAX];
static char *answers[DIRECTORIES_MAX * ADDRESSES_MAX + 8];
static size_t request_count;
static unsigned long seed; /* current seed, for messages */

/* ---- rules for a text ---- */

static bool is_lines(const char *text)
{
	size_t i = 0;

	for (; text[i]; i++)
		if (text[i] != '\n' && (text[i] < ' ' || text[i] > '~'))
			return false;
	return i && text[i - 1] == '\n';
}

/*
 * Finds words that the kernel's debug options fill memory with, or addresses of
 * its own memory. The modelled memory has neither.
 */
static const char *leak_in(const char *text)
{
	static const char *const patterns[] = {
		"5a5a5a5a", "6b6b6b6b", "a5a5a5a5", "6b6b6ba5", "0xffff8",
		"0xffff9", "0xffffa", "0xffffc9", "0xffffea", "0xffffffff8",
	};

	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++)
		if (strstr(text, patterns[i]))
			return patterns[i];
	return NULL;
}

static size_t lines_of(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

/*
 * Returns whether nonsense in memory can make an open or a request fail like
 * this.
 */
static bool is_allowed(int error, const char *file)
{
	return error == EIO || error == EFAULT ||
	       (error == EINVAL && !strcmp(file, TRANSLATE));
}

static void expect_bounded(const char *file, const char *text, size_t size,
			   size_t most)
{
	const char *leak = leak_in(text);

	EXPECT(strlen(text) == size && is_lines(text),
	       "seed %lu: %s: not lines of printable text", seed, file);
	EXPECT(size <= most, "seed %lu: %s: %zu bytes, more than %zu", seed,
	       file, size, most);
	EXPECT(!leak, "seed %lu: %s: %s is in it", seed, file, leak);
}

/* ---- reading ---- */

static char *read_subject(const struct gpu *gpu, const struct subject *subject,
			  size_t *size)
{
	char *text;

	ktap_alarm(DEADLINE_S);
	text = gpu_read(gpu, subject->file, size);
	EXPECT(text || is_allowed(errno, subject->file), "seed %lu: %s: %s",
	       seed, subject->file, strerror(errno));
	return text;
}

/*
 * Returns the part that stays the same while the GPU works. Of engines that is
 * the first two columns.
 */
static char *steady_part(const struct subject *subject, const char *text)
{
	char *steady, *to;

	if (subject->boxes)
		return runlist_skeleton(text);
	steady = strdup(text);
	ASSERT(steady, "no memory for a table");
	if (!file_is(subject->file, FILE_MOVES))
		return steady;
	to = steady;
	while (*text) {
		int length = 0;

		sscanf(text, "%*s %*s%n", &length);
		memcpy(to, text, (size_t)length);
		to += length;
		*to++ = '\n';
		text += strcspn(text, "\n") + 1;
	}
	*to = '\0';
	return steady;
}

/*
 * Makes a request. One descriptor is used for all requests. Returns NULL if it
 * fails with an allowed error.
 */
static char *translate(int fd, const char *request, size_t *size)
{
	ssize_t length = (ssize_t)strlen(request);
	char *text;

	ktap_alarm(DEADLINE_S);
	if (write(fd, request, (size_t)length) != length) {
		EXPECT(is_allowed(errno, TRANSLATE), "seed %lu: \"%s\": %s",
		       seed, request, strerror(errno));
		return NULL;
	}
	lseek(fd, 0, SEEK_SET);
	text = read_to_end(fd, size);
	ASSERT(text, "seed %lu: \"%s\": read: %s", seed, request,
	       strerror(errno));
	return text;
}

/* ---- files and requests ---- */

static void add_subject(const struct gpu *gpu, const char *file, bool boxes,
			size_t most)
{
	struct subject *subject = &subjects[subject_count];
	char *text;
	size_t size;

	snprintf(subject->file, sizeof(subject->file), "%s", file);
	subject->boxes = boxes;
	subject->most = most;
	text = read_subject(gpu, subject, &size);
	ASSERT(text, "%s: %s", file, strerror(errno));
	expect_bounded(subject->file, text, size, subject->most);
	subject->original = steady_part(subject, text);
	subject_count++;
	free(text);
}

static size_t entries_of(const char *text)
{
	struct line line;

	while (next_line(&text, &line))
		if (!strcmp(line.key, "Entries"))
			return strtoul(line.value, NULL, 10);
	return 0;
}

__printf(1, 2)
static void add_request(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(requests[request_count++], REQUEST_MAX, format, args);
	va_end(args);
}

/* Adds the page directories that a runlist shows, each of them once. */
static size_t directories_of(const char *text,
			     char directories[DIRECTORIES_MAX][48],
			     size_t count)
{
	enum box_kind kind = BOX_KINDS;
	char address[32] = "";
	struct line line;

	while (next_line(&text, &line) && count < DIRECTORIES_MAX) {
		bool known = false;

		if (line.title)
			kind = line.kind;
		if (kind != BOX_INSTANCE && kind != BOX_SUBCONTEXT)
			continue;
		if (!strcmp(line.key, "Page Directory"))
			snprintf(address, sizeof(address), "%.31s", line.value);
		if (strcmp(line.key, "Page Directory Aperture"))
			continue;
		snprintf(directories[count], 48, "%s:%.8s", address,
			 line.value);
		for (size_t i = 0; i < count; i++)
			known |= !strcmp(directories[i], directories[count]);
		count += !known;
	}
	return count;
}

/* Finds addresses that the driver mapped, and adds two that it may not have. */
static size_t addresses_of(int model, unsigned long addresses[ADDRESSES_MAX])
{
	const char *at = model_ask(model, "layout");
	size_t count = 0, skip = 0;

	addresses[count++] = 0;
	addresses[count++] = 0x3456789abcUL;
	while (count < ADDRESSES_MAX && (at = strstr(at, "\"va\":\""))) {
		unsigned long address = strtoul(at + 6, NULL, 16);

		at++;
		/*
		 * Every third one is taken, since the first ones all have the
		 * first page size.
		 */
		if (skip++ % 3 == 0 && address >> 40 == 0)
			addresses[count++] = address + 0x10;
	}
	return count;
}

static void find_requests(const struct gpu *gpu, int model)
{
	char directories[DIRECTORIES_MAX][48];
	unsigned long addresses[ADDRESSES_MAX];
	struct channels channels = gpu_channels(gpu);
	size_t address_count, directory_count = 0;
	unsigned int runlists[RUNLISTS_MAX];
	size_t count = gpu_runlists(gpu, runlists, RUNLISTS_MAX);
	int fd;

	request_count = 0;
	if (!gpu_has(gpu, TRANSLATE))
		return;
	for (size_t i = 0; i < count; i++) {
		char *text = gpu_runlist(gpu, runlists[i]);

		directory_count = directories_of(text, directories,
						 directory_count);
		free(text);
	}
	address_count = addresses_of(model, addresses);
	for (size_t d = 0; d < directory_count; d++)
		for (size_t a = 0; a < address_count; a++)
			add_request("%s %#lx", directories[d], addresses[a]);
	for (size_t i = 0; i < channels.count && i < 2; i++) {
		add_request("%u:%u %#lx", channels.at[i].runlist,
			    channels.at[i].id, addresses[address_count - 1]);
		add_request("%u:%u %#lx base", channels.at[i].runlist,
			    channels.at[i].id, addresses[address_count - 1]);
	}
	fd = gpu_open(gpu, TRANSLATE, O_RDWR);
	ASSERT(fd >= 0, TRANSLATE ": %s", strerror(errno));
	for (size_t i = 0; i < request_count; i++) {
		size_t size;

		answers[i] = translate(fd, requests[i], &size);
		ASSERT(answers[i], "\"%s\": %s", requests[i], strerror(errno));
	}
	close(fd);
	free(channels.at);
}

static void find_subjects(const struct gpu *gpu, int model)
{
	unsigned int runlists[RUNLISTS_MAX];
	size_t count = gpu_runlists(gpu, runlists, RUNLISTS_MAX), all = 0;
	char *info;

	seed = 0;
	subject_count = 0;
	for (size_t i = 0; i < count; i++) {
		char *text = gpu_runlist(gpu, runlists[i]), file[48];
		size_t entries = entries_of(text);

		free(text);
		if (!entries)
			continue;
		all += entries;
		snprintf(file, sizeof(file), "runlist%u", runlists[i]);
		add_subject(gpu, file, true, boxes_most(entries));
		strcat(file, "_brief");
		if (gpu_has(gpu, file))
			add_subject(gpu, file, true, boxes_most(entries));
	}
	ASSERT(subject_count, "%s has no runlist with entries", gpu->name);
	if (gpu_has(gpu, "contexts"))
		add_subject(gpu, "contexts", false, (1 + all) * CHANNELS_LINE);
	info = gpu_read(gpu, "device_info", NULL);
	ASSERT(info, "device_info: %s", strerror(errno));
	if (gpu_has(gpu, "engines"))
		add_subject(gpu, "engines", false, lines_of(info) * 1024);
	free(info);
	find_requests(gpu, model);
}

/* ---- the tests ---- */

/* Returns true if the corruption showed in a text. */
static bool read_corrupted(const struct gpu *gpu, int fd)
{
	bool shown = false;
	size_t size;
	char *text;

	for (size_t i = 0; i < subject_count; i++) {
		char *steady;

		text = read_subject(gpu, &subjects[i], &size);
		if (!text) {
			shown = true;
			continue;
		}
		expect_bounded(subjects[i].file, text, size,
			       subjects[i].most);
		steady = steady_part(&subjects[i], text);
		shown |= strcmp(steady, subjects[i].original) != 0;
		free(steady);
		free(text);
	}
	for (size_t i = 0; i < WALKS_A_SEED && i < request_count; i++) {
		const char *request = requests[(seed * WALKS_A_SEED + i) %
					       request_count];

		text = translate(fd, request, &size);
		if (!text)
			continue;
		expect_bounded(request, text, size, WALK_BYTES);
		free(text);
	}
	return shown;
}

static void expect_originals(const struct gpu *gpu, int fd)
{
	for (size_t i = 0; i < subject_count; i++) {
		char *text = read_subject(gpu, &subjects[i], NULL), *steady;

		ASSERT(text, "%s: cannot be read after undo",
		       subjects[i].file);
		steady = steady_part(&subjects[i], text);
		if (strcmp(steady, subjects[i].original)) {
			EXPECT(false, "seed %lu: %s: not as before, after undo",
			       seed, subjects[i].file);
			ktap_note_difference(subjects[i].original, steady);
		}
		free(steady);
		free(text);
	}
	for (size_t i = 0; i < request_count; i++) {
		char *text = translate(fd, requests[i], NULL);

		EXPECT(text && !strcmp(text, answers[i]),
		       "seed %lu: \"%s\": not as before, after undo", seed,
		       requests[i]);
		free(text);
	}
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void test_reading(const struct gpu *gpu)
{
	int model = model_open(gpu), fd;
	unsigned long count = last_seed - first_seed + 1, shown = 0;
	double start;

	find_subjects(gpu, model);
	fd = gpu_has(gpu, TRANSLATE) ? gpu_open(gpu, TRANSLATE, O_RDWR) : -1;
	start = seconds();
	for (seed = first_seed; seed <= last_seed; seed++) {
		unsigned long done = seed - first_seed + 1;

		ktap_alarm(DEADLINE_S);
		model_ask(model, "corrupt %lu %lu", seed, flips);
		shown += read_corrupted(gpu, fd);
		ktap_alarm(DEADLINE_S);
		model_ask(model, "corrupt undo");
		if (done % COMPARE_EVERY == 0 || seed == last_seed)
			expect_originals(gpu, fd);
		if (done % REPORT_EVERY == 0)
			ktap_note("%s: %lu of %lu seeds", gpu->name, done,
				  count);
	}
	EXPECT(5 * shown >= count, "only %lu of %lu seeds showed", shown,
	       count);
	ktap_note("%s: %lu seeds of %lu flips (%lu showed), %zu files and %zu walks, %.1f seeds/s",
		  gpu->name, count, flips, shown, subject_count, request_count,
		  (double)count / (seconds() - start));
}

static const struct suite_test tests[] = {
	{ "reading", "reads end, in bounds, and all is as before after undo",
	  test_reading, 0 },
};

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "--first", &first_seed },
		{ "--last", &last_seed },
		{ "--flips", &flips },
	};

	argc = OPTIONS_TAKE(argc, argv, options);
	return SUITE_MAIN(argc, argv, tests);
}
