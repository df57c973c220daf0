// SPDX-License-Identifier: MIT OR GPL-2.0
/* What disable_channel and enable_channel do, take and refuse. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "state.h"
#include "suite.h"
#include "tree.h"

#define BYTES_MAX 4095
#define TARGETS_MAX 256

static const char *const controls[] = { DISABLE, ENABLE };

/* A write that has to succeed. */
__printf(3, 4)
static void take(const struct gpu *gpu, const char *file, const char *format,
		 ...)
{
	char text[BYTES_MAX + 2];
	va_list args;
	int error;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	error = control(gpu, file, text);
	EXPECT(!error, "%s/%s: \"%.60s\": %s", gpu->name, file, text,
	       strerror(error));
}

static void expect_state(const struct gpu *gpu, const struct channel *channel,
			 bool enabled, const char *after)
{
	EXPECT(is_enabled(gpu, channel) == enabled,
	       "%s: %u:%u is %sabled after %s", gpu->name, channel->runlist,
	       channel->id, enabled ? "dis" : "en", after);
}

/* Does `write` to both controls while the channel is in the other state. */
static void expect_refused_unchanged(const struct gpu *gpu,
				     const struct channel *channel,
				     const void *bytes, size_t size, int error,
				     int or_error)
{
	for (int c = 0; c < 2; c++) {
		struct channels before, after;
		int got;

		set_enabled(gpu, channel, c == 0);
		before = gpu_channels(gpu);
		got = control_bytes(gpu, controls[c], bytes, size);
		after = gpu_channels(gpu);
		EXPECT(got == error || (or_error && got == or_error),
		       "%s: \"%.60s\" (%zu bytes): %s, want %s", controls[c],
		       (const char *)bytes, size,
		       got ? strerror(got) : "taken", strerror(error));
		EXPECT(channels_same(&before, &after),
		       "%s: \"%.60s\" was refused but changed channels",
		       controls[c], (const char *)bytes);
		free(before.at);
		free(after.at);
	}
	set_enabled(gpu, channel, true);
}

/* `text`, with each '@' replaced by the target; refused with `error`. */
static void refuse_or(const struct gpu *gpu, const struct channel *channel,
		      const char *text, int error, int or_error)
{
	char target[TARGET_MAX], expanded[400];
	size_t used = 0;

	target_of(gpu, channel, target);
	for (; *text; text++) {
		if (*text == '@')
			used += (size_t)sprintf(expanded + used, "%s", target);
		else
			expanded[used++] = *text;
	}
	expanded[used] = '\0';
	expect_refused_unchanged(gpu, channel, expanded, used, error, or_error);
}

static void refuse(const struct gpu *gpu, const struct channel *channel,
		   const char *text, int error)
{
	refuse_or(gpu, channel, text, error, 0);
}

/* ---- what they do ---- */

static void test_disable_enable(const struct gpu *gpu)
{
	struct channels channels = enabled_channels(gpu, 1);

	for (size_t i = 0; i < channels.count && i < 8; i++) {
		const struct channel *channel = &channels.at[i];

		set_enabled(gpu, channel, false);
		expect_state(gpu, channel, false, "disable");
		set_enabled(gpu, channel, true);
		expect_state(gpu, channel, true, "enable");
	}
}

static void test_only_that_one(const struct gpu *gpu)
{
	struct channels channels = enabled_channels(gpu, 2);
	struct channels expected = gpu_channels(gpu), now;
	const struct channel *channel = &channels.at[0];

	for (int enabled = 0; enabled < 2; enabled++) {
		set_enabled(gpu, channel, enabled);
		for (size_t i = 0; i < expected.count; i++)
			if (channels_match(&expected.at[i], channel))
				expected.at[i].enabled = enabled;
		now = gpu_channels(gpu);
		EXPECT(channels_same(&expected, &now),
		       "%sable changed another one", enabled ? "en" : "dis");
		free(now.at);
	}
}

static void test_again(const struct gpu *gpu)
{
	struct channels channels = enabled_channels(gpu, 1);
	const struct channel *channel = &channels.at[0];

	set_enabled(gpu, channel, false);
	set_enabled(gpu, channel, false);
	expect_state(gpu, channel, false, "two disables");
	set_enabled(gpu, channel, true);
	set_enabled(gpu, channel, true);
	expect_state(gpu, channel, true, "two enables");
}

static void test_one_open(const struct gpu *gpu)
{
	struct channels channels = enabled_channels(gpu, 2);
	int fd = gpu_open(gpu, DISABLE, O_WRONLY);

	ASSERT(fd >= 0, "open: %s", strerror(errno));
	for (int i = 0; i < 2; i++) {
		char target[TARGET_MAX];
		ssize_t size;

		target_of(gpu, &channels.at[i], target);
		size = write(fd, target, strlen(target));
		EXPECT(size == (ssize_t)strlen(target), "write %d: %zd", i,
		       size);
		expect_state(gpu, &channels.at[i], false, "disable");
	}
	close(fd);
	set_enabled(gpu, &channels.at[0], true);
	set_enabled(gpu, &channels.at[1], true);
}

/* ---- what they take ---- */

static void test_number_bases(const struct gpu *gpu)
{
	static const char *const formats[] = { "%u", "%#x", "0x%X", "0X%x",
					       "0x0000%x" };
	struct channels channels = enabled_channels(gpu, 1);
	/* The largest, so that the bases differ if they can. */
	const struct channel *channel = &channels.at[0];

	for (size_t i = 1; i < channels.count; i++)
		if (channels.at[i].id > channel->id)
			channel = &channels.at[i];
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		char id[32], target[TARGET_MAX];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(id, sizeof(id), formats[i], channel->id);
#pragma GCC diagnostic pop
		target_with_id(gpu, channel, id, target);
		take(gpu, DISABLE, "%s", target);
		expect_state(gpu, channel, false, target);
		take(gpu, ENABLE, "%s", target);
		expect_state(gpu, channel, true, target);
	}
}

static void test_with_runlist(const struct gpu *gpu)
{
	struct channels channels = enabled_channels(gpu, 1);
	const struct channel *channel = &channels.at[channels.count - 1];

	take(gpu, DISABLE, "%u:%u", channel->runlist, channel->id);
	expect_state(gpu, channel, false, "RUNLIST:ID");
	take(gpu, ENABLE, "%#x:%#x\n", channel->runlist, channel->id);
	expect_state(gpu, channel, true, "RUNLIST:ID in hexadecimal");
}

static void test_separators(const struct gpu *gpu)
{
	static const char *const formats[] = {
		"%s %s", "%s\n%s", "%s\n%s\n", "  %s   %s  ", "\n%s\n\n%s \n ",
	};
	struct channels channels = enabled_channels(gpu, 2);
	char first[TARGET_MAX], second[TARGET_MAX];

	target_of(gpu, &channels.at[0], first);
	target_of(gpu, &channels.at[1], second);
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		char text[200];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(text, sizeof(text), formats[i], first, second);
#pragma GCC diagnostic pop
		take(gpu, DISABLE, "%s", text);
		expect_state(gpu, &channels.at[0], false, "a list");
		expect_state(gpu, &channels.at[1], false, "a list");
		take(gpu, ENABLE, "%s", text);
		expect_state(gpu, &channels.at[0], true, "a list");
		expect_state(gpu, &channels.at[1], true, "a list");
	}
}

/* Every channel of every runlist, as far as one write reaches. */
static void test_many(const struct gpu *gpu)
{
	struct channels channels = enabled_channels(gpu, 2);
	char text[BYTES_MAX + 1];
	size_t used = 0, count = 0;

	while (count < channels.count && count < TARGETS_MAX &&
	       used + TARGET_MAX < sizeof(text)) {
		char target[TARGET_MAX];

		target_of(gpu, &channels.at[count++], target);
		used += (size_t)sprintf(text + used, "%s\n", target);
	}
	for (int enabled = 0; enabled < 2; enabled++) {
		struct channels now;

		take(gpu, controls[enabled], "%s", text);
		now = gpu_channels(gpu);
		for (size_t i = 0; i < count; i++) {
			struct channel *one = channels_find(&now,
							    &channels.at[i]);

			EXPECT(one && one->enabled == enabled,
			       "%u:%u did not follow", channels.at[i].runlist,
			       channels.at[i].id);
		}
		free(now.at);
	}
}

/* Either an error and no change, or taken and done: nothing in between. */
static void test_undefined_forms(const struct gpu *gpu)
{
	static const char *const formats[] = { "+%s", "%s\t", "\t%s" };
	struct channels channels = enabled_channels(gpu, 1);
	const struct channel *channel = &channels.at[0];
	char target[TARGET_MAX];

	target_of(gpu, channel, target);
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		char text[100];
		int error;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(text, sizeof(text), formats[i], target);
#pragma GCC diagnostic pop
		error = control(gpu, DISABLE, text);
		EXPECT(!error || error == EINVAL, "\"%s\": %s", text,
		       strerror(error));
		expect_state(gpu, channel, error == EINVAL, text);
		set_enabled(gpu, channel, true);
	}
}

/* ---- what they refuse ---- */

static void test_nothing(const struct gpu *gpu)
{
	struct channels channels = enabled_channels(gpu, 1);
	static const char *const nothings[] = { "", " ", "\n", " \n \n  " };

	for (size_t i = 0; i < sizeof(nothings) / sizeof(*nothings); i++)
		refuse(gpu, &channels.at[0], nothings[i], EINVAL);
}

static void test_junk(const struct gpu *gpu)
{
	static const char *const junk[] = {
		"x",   "@x",  "@ x",   "x @",	"@,@", "@;",	"@.0", "--@",
		"@ -", ":",     "@:",	":@",  "0:",	":0",  "0:0:0",
		"0x",  "@ 0x", "0@",   "@ 0:",	"all", "*",	"0 :0", "0: 0",
		"1e1", "@ @ @ @ y", "@\r\n",	"0xg", "@\n#", "\"@\"",
		"-1",  "-@",  "@ -1",
	};
	struct channels channels = enabled_channels(gpu, 1);

	for (size_t i = 0; i < sizeof(junk) / sizeof(*junk); i++)
		refuse(gpu, &channels.at[0], junk[i], EINVAL);
}

static void test_nul(const struct gpu *gpu)
{
	struct channels channels = enabled_channels(gpu, 1);
	char target[TARGET_MAX], bytes[2 * TARGET_MAX];
	size_t size;

	target_of(gpu, &channels.at[0], target);
	size = (size_t)sprintf(bytes, "%s", target);
	expect_refused_unchanged(gpu, &channels.at[0], bytes, size + 1, EINVAL,
				 0);
	size += (size_t)sprintf(bytes + size + 1, " %s", target) + 1;
	expect_refused_unchanged(gpu, &channels.at[0], bytes, size, EINVAL, 0);
	expect_refused_unchanged(gpu, &channels.at[0], "\0", 1, EINVAL, 0);
}

/* Numbers that would be this channel if a bit were lost. */
static void test_too_large(const struct gpu *gpu)
{
	struct channels channels = enabled_channels(gpu, 1);
	const struct channel *channel = &channels.at[0];
	unsigned long count = gpu_info_number(gpu, "channels");
	char ids[6][40];

	ASSERT(count > channel->id, "info says %lu channels, but %u is in use",
	       count, channel->id);
	snprintf(ids[0], sizeof(ids[0]), "100000000000000000000");
	snprintf(ids[1], sizeof(ids[1]), "%lu", count);
	snprintf(ids[2], sizeof(ids[2]), "%lu", (1UL << 32) + channel->id);
	/* 2^64 = 0x1 0000 0000 0000 0000 */
	snprintf(ids[3], sizeof(ids[3]), "0x1%016x", channel->id);
	snprintf(ids[4], sizeof(ids[4]), "18446744073709551615");
	snprintf(ids[5], sizeof(ids[5]), "0x%lx", (1UL << 31) + channel->id);
	for (int i = 0; i < 6; i++) {
		char target[TARGET_MAX], text[300];

		target_with_id(gpu, channel, ids[i], target);
		refuse(gpu, channel, target, ERANGE);
		snprintf(text, sizeof(text), "%s @", target);
		refuse(gpu, channel, text, ERANGE);
		snprintf(text, sizeof(text), "@\n%s\n", target);
		refuse(gpu, channel, text, ERANGE);
		snprintf(text, sizeof(text), "%u:%s", channel->runlist, ids[i]);
		refuse(gpu, channel, text, ERANGE);
	}
	refuse(gpu, channel, "100000000000000000000:0", ERANGE);
	refuse(gpu, channel, "@ 0:100000000000000000000", ERANGE);
}

/*
 * Disables what names no channel of any runlist. That may work where it still
 * names one of the hardware, but it may not touch those in the runlists.
 */
static void expect_no_channel(const struct gpu *gpu, const char *target)
{
	struct channels before = gpu_channels(gpu), after;
	int error = control(gpu, DISABLE, target);

	EXPECT(!error || (error == EINVAL && strchr(target, ':')), "\"%s\": %s",
	       target, strerror(error));
	after = gpu_channels(gpu);
	EXPECT(channels_same(&before, &after), "\"%s\" changed a channel",
	       target);
}

/* The last id there is: in range, but most likely in no runlist. */
static void test_last_id(const struct gpu *gpu)
{
	struct channels channels = enabled_channels(gpu, 1);
	unsigned long last = gpu_info_number(gpu, "channels") - 1;
	char id[32], target[TARGET_MAX];

	for (size_t i = 0; i < channels.count; i++)
		if (channels.at[i].id == last)
			ktap_skip("channel %lu is in use", last);
	snprintf(id, sizeof(id), "%lu", last);
	target_with_id(gpu, &channels.at[0], id, target);
	expect_no_channel(gpu, target);
}

static bool holds(const struct channels *channels, unsigned int runlist,
		  unsigned int id)
{
	struct channel channel = { .runlist = runlist, .id = id };

	return channels_find(channels, &channel);
}

/* No such runlist, or one that holds no such channel. */
static void test_wrong_runlist(const struct gpu *gpu)
{
	struct channels enabled = enabled_channels(gpu, 1);
	struct channels all = gpu_channels(gpu);
	const struct channel *channel = &enabled.at[0];
	unsigned int runlists[RUNLISTS_MAX], beyond = 0;
	size_t count = gpu_runlists(gpu, runlists, RUNLISTS_MAX);
	char text[80];

	for (size_t i = 0; i < count; i++) {
		if (runlists[i] >= beyond)
			beyond = runlists[i] + 1;
		if (holds(&all, runlists[i], channel->id))
			continue;
		snprintf(text, sizeof(text), "%u:%u", runlists[i], channel->id);
		if (!gpu_ids_are_global(gpu)) {
			expect_no_channel(gpu, text);
			continue;
		}
		refuse(gpu, channel, text, EINVAL);
		snprintf(text, sizeof(text), "@ %u:%u", runlists[i],
			 channel->id);
		refuse(gpu, channel, text, EINVAL);
	}
	for (unsigned int r = 0; r <= beyond; r++) {
		size_t i = 0;

		while (i < count && runlists[i] != r)
			i++;
		if (i < count)
			continue;
		snprintf(text, sizeof(text), "%u:%u", r, channel->id);
		refuse(gpu, channel, text, EINVAL);
	}
	snprintf(text, sizeof(text), "@ 1000:%u", channel->id);
	refuse(gpu, channel, text, EINVAL);
	/* Both are right: there is no such runlist, and it is a large number. */
	snprintf(text, sizeof(text), "%lu:%u", (1UL << 32) + channel->runlist,
		 channel->id);
	refuse_or(gpu, channel, text, EINVAL, ERANGE);
}

/* How many runlists hold a channel of that id. */
static size_t holders(const struct gpu *gpu, const struct channels *channels,
		      unsigned int id)
{
	unsigned int runlists[RUNLISTS_MAX];
	size_t count = gpu_runlists(gpu, runlists, RUNLISTS_MAX), found = 0;

	for (size_t i = 0; i < count; i++)
		found += holds(channels, runlists[i], id);
	return found;
}

/* An id alone, where ids are per runlist; one for each number of holders. */
static void test_bare_id(const struct gpu *gpu)
{
	struct channels enabled = enabled_channels(gpu, 1);
	struct channels all = gpu_channels(gpu);
	bool seen_one = false, seen_several = false;
	unsigned int free_id = 0;
	char text[32];

	for (size_t i = 0; i < enabled.count; i++) {
		const struct channel *channel = &enabled.at[i];
		bool several = holders(gpu, &all, channel->id) > 1;
		bool *seen = several ? &seen_several : &seen_one;

		if (*seen)
			continue;
		*seen = true;
		snprintf(text, sizeof(text), "%u", channel->id);
		if (several && !gpu_ids_are_global(gpu)) {
			refuse(gpu, channel, text, EINVAL);
			continue;
		}
		take(gpu, DISABLE, "%s", text);
		expect_state(gpu, channel, false, "disable of a bare id");
		take(gpu, ENABLE, "%s", text);
		expect_state(gpu, channel, true, "enable of a bare id");
	}
	if (gpu_ids_are_global(gpu))
		return;
	while (holders(gpu, &all, free_id))
		free_id++;
	ASSERT(free_id < gpu_info_number(gpu, "channels"), "all ids are held");
	snprintf(text, sizeof(text), "%u", free_id);
	refuse(gpu, &enabled.at[0], text, EINVAL);
	snprintf(text, sizeof(text), "@ %u", free_id);
	refuse(gpu, &enabled.at[0], text, EINVAL);
}

/* ---- limits ---- */

static void test_longest_write(const struct gpu *gpu)
{
	struct channels channels = enabled_channels(gpu, 1);
	const struct channel *channel = &channels.at[0];
	static char text[1 << 20];
	char target[TARGET_MAX];
	size_t length;
	int error;

	target_of(gpu, channel, target);
	length = strlen(target);
	memset(text, ' ', sizeof(text));
	memcpy(text + BYTES_MAX - length, target, length);
	error = control_bytes(gpu, DISABLE, text, BYTES_MAX);
	EXPECT(!error, "%d bytes: %s", BYTES_MAX, strerror(error));
	expect_state(gpu, channel, false, "the longest write");
	set_enabled(gpu, channel, true);

	memset(text, ' ', sizeof(text));
	memcpy(text, target, length);
	expect_refused_unchanged(gpu, channel, text, BYTES_MAX + 1, E2BIG, 0);
	expect_refused_unchanged(gpu, channel, text, BYTES_MAX + 2, E2BIG, 0);
	expect_refused_unchanged(gpu, channel, text, sizeof(text), E2BIG, 0);
}

static void test_most_targets(const struct gpu *gpu)
{
	struct channels channels = enabled_channels(gpu, 1);
	const struct channel *channel = &channels.at[0];
	char target[TARGET_MAX], text[BYTES_MAX + TARGET_MAX] = "";
	size_t used = 0;
	int error;

	target_of(gpu, channel, target);
	for (int i = 0; i < TARGETS_MAX; i++)
		used += (size_t)sprintf(text + used, "%s ", target);
	ASSERT(used <= BYTES_MAX, "\"%s\" is too long for this test", target);
	error = control_bytes(gpu, DISABLE, text, used);
	EXPECT(!error, "%d targets: %s", TARGETS_MAX, strerror(error));
	expect_state(gpu, channel, false, "the most targets");
	set_enabled(gpu, channel, true);
	used += (size_t)sprintf(text + used, "%s", target);
	expect_refused_unchanged(gpu, channel, text, used, E2BIG, 0);
}

static void test_bad_pointer(const struct gpu *gpu)
{
	struct channels channels = enabled_channels(gpu, 1), after;

	for (int c = 0; c < 2; c++) {
		int error = control_bytes(gpu, controls[c], (void *)16, 4);

		EXPECT(error == EFAULT, "%s: %s", controls[c], strerror(error));
	}
	after = enabled_channels(gpu, 0);
	EXPECT(channels_same(&channels, &after), "it changed channels");
}

/* ---- the wrong direction ---- */

static void test_read_of_control(const struct gpu *gpu)
{
	static const int flags[] = { O_RDONLY, O_RDWR };
	struct state before = state_read(gpu);
	struct files files;

	gpu_controls(gpu, &files);
	for (size_t i = 0; i < files.count; i++) {
		for (int f = 0; f < 2; f++) {
			int fd;
			char byte;
			ssize_t got;

			if (file_kind(files.name[i])->mode & 0400)
				continue;
			fd = gpu_open(gpu, files.name[i], flags[f]);
			if (fd < 0)
				continue;
			got = read(fd, &byte, 1);
			EXPECT(got < 0, "%s: read gave %zd", files.name[i],
			       got);
			close(fd);
		}
	}
	state_expect(gpu, &before, "after reading controls");
}

static void test_write_of_read_only(const struct gpu *gpu)
{
	static const int flags[] = { O_WRONLY, O_RDWR, O_WRONLY | O_TRUNC };
	struct files files;

	gpu_files(gpu, 0400, &files);
	for (size_t i = 0; i < files.count; i++) {
		for (int f = 0; f < 3; f++) {
			int fd;

			if (file_kind(files.name[i])->mode & 0200)
				continue;
			fd = gpu_open(gpu, files.name[i], flags[f]);
			if (fd < 0)
				continue;
			EXPECT(write(fd, "0\n", 2) < 0, "%s: took a write",
			       files.name[i]);
			close(fd);
		}
	}
}

static const struct suite_test tests[] = {
	{ "disable_enable", "Enabled in the runlist follows the writes",
	  test_disable_enable, SUITE_CONTROLS },
	{ "only_that_one", "no other channel changes", test_only_that_one,
	  SUITE_CONTROLS },
	{ "again", "what is disabled can be disabled again", test_again,
	  SUITE_CONTROLS },
	{ "one_open", "several writes through one descriptor", test_one_open,
	  SUITE_CONTROLS },
	{ "number_bases", "decimal and hexadecimal numbers",
	  test_number_bases, SUITE_CONTROLS },
	{ "with_runlist", "RUNLIST:ID on every generation", test_with_runlist,
	  SUITE_CONTROLS },
	{ "separators", "targets separated by blanks and newlines",
	  test_separators, SUITE_CONTROLS },
	{ "many", "all channels in one write", test_many, SUITE_CONTROLS },
	{ "undefined_forms", "a sign or a tab is EINVAL or works",
	  test_undefined_forms, SUITE_CONTROLS },
	{ "nothing", "a write without a target is EINVAL", test_nothing,
	  SUITE_CONTROLS },
	{ "junk", "junk anywhere is EINVAL and changes nothing", test_junk,
	  SUITE_CONTROLS },
	{ "nul", "a zero byte is EINVAL", test_nul, SUITE_CONTROLS },
	{ "too_large", "ids beyond the last are ERANGE, whatever their low bits",
	  test_too_large, SUITE_CONTROLS },
	{ "last_id", "the last id is in range", test_last_id, SUITE_CONTROLS },
	{ "wrong_runlist", "a runlist without the channel does not mean another's",
	  test_wrong_runlist, SUITE_CONTROLS },
	{ "bare_id", "an id alone needs exactly one holder on newer GPUs",
	  test_bare_id, SUITE_CONTROLS },
	{ "longest_write", "4095 bytes are taken, more are E2BIG",
	  test_longest_write, SUITE_CONTROLS },
	{ "most_targets", "256 targets are taken, 257 are E2BIG",
	  test_most_targets, SUITE_CONTROLS },
	{ "bad_pointer", "a bad buffer is EFAULT", test_bad_pointer,
	  SUITE_CONTROLS },
	{ "read_of_control", "a control cannot be read", test_read_of_control,
	  SUITE_CONTROLS },
	{ "write_of_read_only", "other files cannot be written",
	  test_write_of_read_only, SUITE_CONTROLS },
};

int main(int argc, char **argv)
{
	return SUITE_MAIN(argc, argv, tests);
}
