// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * The controls through the kernel's files and its ways to memory. What they
 * take and refuse, and what the GPU then does: tests/module/core.
 */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "boxes.h"
#include "state.h"
#include "suite.h"
#include "tree.h"

#define BYTES_MAX 4095
/* A timeslice is (TIMEOUT << SCALE) units of 1.024 us, with the least SCALE. */
#define TIMEOUT_MAX 255U

static struct tsgs need_tsgs(const struct gpu *gpu, size_t least)
{
	struct tsgs tsgs = gpu_tsgs(gpu);

	if (tsgs.count < least)
		ktap_skip("%s has %zu TSGs, need %zu", gpu->name, tsgs.count,
			  least);
	return tsgs;
}

/* A write that has to succeed. */
#define TAKE(gpu, file, ...)                                                \
	do {                                                                \
		int error_ = control_format(gpu, file, __VA_ARGS__);       \
		EXPECT(!error_, "%s/%s: %s", (gpu)->name, file,            \
		       strerror(error_));                                  \
	} while (0)

/* ---- channels ---- */

static void test_disable_enable(const struct gpu *gpu)
{
	struct channels channels = enabled_channels(gpu, 1);

	for (size_t i = 0; i < channels.count && i < 8; i++) {
		const struct channel *channel = &channels.at[i];

		for (int enabled = 0; enabled < 2; enabled++) {
			set_enabled(gpu, channel, enabled);
			EXPECT(is_enabled(gpu, channel) == enabled,
			       "%u:%u is not %sabled", channel->runlist,
			       channel->id, enabled ? "en" : "dis");
		}
	}
}

/* ---- timeslices ---- */

/* Its own timeslice, asked for, gives the same words again. */
static bool is_plain(const struct tsg *tsg)
{
	return !tsg->scale || tsg->timeout > TIMEOUT_MAX / 2;
}

static bool same_tsg(const struct tsg *a, const struct tsg *b)
{
	return a->runlist == b->runlist && a->id == b->id;
}

/* That TSG's headers have it, all others what they had before. */
static void expect_timeslice(const struct gpu *gpu, const struct tsgs *before,
			     const struct tsg *changed, unsigned int timeout,
			     unsigned int scale)
{
	struct tsgs now = gpu_tsgs(gpu);

	ASSERT(now.count == before->count, "%zu TSGs became %zu",
	       before->count, now.count);
	for (size_t i = 0; i < now.count; i++) {
		const struct tsg *was = &before->at[i], *is = &now.at[i];
		bool other = !same_tsg(is, changed);
		unsigned int t = other ? was->timeout : timeout;
		unsigned int s = other ? was->scale : scale;

		EXPECT(same_tsg(was, is) && was->channels == is->channels,
		       "entry %zu is another one", i);
		EXPECT(is->timeout == t && is->scale == s,
		       "TSG %u:%u has %u << %u, want %u << %u", is->runlist,
		       is->id, is->timeout, is->scale, t, s);
	}
	free(now.at);
}

/* Each TSG in turn, others unchanged; then each back. */
static void test_timeslices(const struct gpu *gpu)
{
	struct tsgs tsgs;

	need_file(gpu, TIMESLICE);
	tsgs = need_tsgs(gpu, 1);
	for (size_t i = 0; i < tsgs.count && i < 8; i++) {
		const struct tsg *tsg = &tsgs.at[i];

		if (!is_plain(tsg))
			continue;
		TAKE(gpu, TIMESLICE, "%u:%u 500", tsg->runlist, tsg->id);
		expect_timeslice(gpu, &tsgs, tsg, 244, 1);
		TAKE(gpu, TIMESLICE, "%u:%u %s", tsg->runlist, tsg->id,
		     tsg->timeslice);
	}
}

/* ---- lists ---- */

/* The runlist holds that TSG's entries as they were, and nothing else. */
static void expect_alone(const struct gpu *gpu, const struct state *before,
			 const struct tsg *tsg)
{
	char *text = gpu_runlist(gpu, tsg->runlist);
	struct channels channels = { NULL, 0 };
	struct tsgs tsgs = { NULL, 0 };
	size_t at = 0;

	runlist_tsgs(text, tsg->runlist, &tsgs);
	runlist_channels(text, tsg->runlist, &channels);
	EXPECT(tsgs.count == 1 && same_tsg(&tsgs.at[0], tsg) &&
	       tsgs.at[0].channels == tsg->channels &&
	       !strcmp(tsgs.at[0].timeslice, tsg->timeslice),
	       "runlist %u has %zu TSGs with TSG %u alone", tsg->runlist,
	       tsgs.count, tsg->id);
	EXPECT(channels.count == tsg->channels, "%zu channels, not %zu",
	       channels.count, tsg->channels);
	for (size_t i = 0; i < before->channels.count; i++) {
		const struct channel *was = &before->channels.at[i];

		if (was->runlist != tsg->runlist || !was->in_tsg ||
		    was->tsg != tsg->id || at == channels.count)
			continue;
		EXPECT(channels_match(was, &channels.at[at]),
		       "channel %u in place of %u", channels.at[at].id,
		       was->id);
		at++;
	}
	free(tsgs.at);
	free(channels.at);
	free(text);
}

static void test_switch(const struct gpu *gpu)
{
	struct state before;

	need_file(gpu, SWITCH);
	need_tsgs(gpu, 1);
	before = state_read(gpu);
	for (size_t i = 0; i < before.tsgs.count && i < 6; i++) {
		const struct tsg *tsg = &before.tsgs.at[i];

		TAKE(gpu, SWITCH, "%u:%u", tsg->runlist, tsg->id);
		expect_alone(gpu, &before, tsg);
		TAKE(gpu, RESUBMIT, "%u", tsg->runlist);
		state_expect(gpu, &before, "after switch and resubmit");
	}
}

/* ---- preemption mode ---- */

static const struct channel *find_context(const struct channels *channels)
{
	for (size_t i = 0; i < channels->count; i++)
		if (isalpha((unsigned char)channels->at[i].compute[0]))
			return &channels->at[i];
	return NULL;
}

/* The mode that the channel's own Context box shows. */
static void expect_mode(const struct gpu *gpu, const struct channel *channel,
			const char *shown)
{
	struct channels now = gpu_channels(gpu);
	const struct channel *is = channels_find(&now, channel);

	EXPECT(is && !strcmp(is->compute, shown), "channel %u:%u: %s, want %s",
	       channel->runlist, channel->id, is ? is->compute : "gone", shown);
	free(now.at);
}

static void test_mode(const struct gpu *gpu)
{
	static const char *const modes[] = { "WFI", "CTA", "CILP", "WFI",
					     "CTA" };
	struct channels channels;
	const struct channel *channel;
	char word[8], last[8];

	need_file(gpu, MODE);
	channels = gpu_channels(gpu);
	channel = find_context(&channels);
	ASSERT(channel, "no context is shown, so no mode can be set");
	strcpy(last, channel->compute);
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		int error;

		mode_word(modes[i], word);
		error = control_format(gpu, MODE, "%u:%u %s", channel->runlist,
				       channel->id, word);
		EXPECT(!error || (error == EOPNOTSUPP &&
				  !strcmp(word, "cilp")), "%s: %s", word,
		       strerror(error));
		if (!error)
			strcpy(last, modes[i]);
		expect_mode(gpu, channel, last);
	}
	mode_word(channel->compute, word);
	TAKE(gpu, MODE, "%u:%u %s", channel->runlist, channel->id, word);
	expect_mode(gpu, channel, channel->compute);
}

/* ---- what the kernel takes of a write ---- */

static void refuse(const struct gpu *gpu, const char *file, const void *bytes,
		   size_t size, int error)
{
	int got = control_bytes(gpu, file, bytes, size);

	EXPECT(got == error, "%s: %zu bytes: %s, want %s", file, size,
	       got ? strerror(got) : "taken", strerror(error));
}

/* A bad buffer, too many bytes. */
static void test_limits(const struct gpu *gpu)
{
	struct request requests[REQUESTS_MAX];
	size_t count = need_requests(gpu, requests);
	struct state before = state_read(gpu);
	static char text[1 << 16];

	for (size_t r = 0; r < count; r++) {
		const char *file = requests[r].file;

		refuse(gpu, file, (void *)16, 4, EFAULT);
		memset(text, ' ', sizeof(text));
		memcpy(text, requests[r].text, strlen(requests[r].text));
		refuse(gpu, file, text, BYTES_MAX + 1, E2BIG);
		refuse(gpu, file, text, sizeof(text), E2BIG);
	}
	state_expect(gpu, &before, "after refused writes");
	/* What is as long as can be is taken. */
	for (size_t r = 0; r < count; r++) {
		size_t length = strlen(requests[r].text);

		if (strcmp(requests[r].file, PREEMPT_RUNLIST) &&
		    strcmp(requests[r].file, RESUBMIT))
			continue;
		memset(text, ' ', sizeof(text));
		memcpy(text + BYTES_MAX - length, requests[r].text, length);
		EXPECT(!control_bytes(gpu, requests[r].file, text, BYTES_MAX),
		       "%s: %d bytes are not taken", requests[r].file,
		       BYTES_MAX);
	}
	state_expect(gpu, &before, "after the longest writes");
}

/* Several writes through one descriptor, and the last of them bad. */
static void test_one_open(const struct gpu *gpu)
{
	struct request requests[REQUESTS_MAX];
	size_t count = need_requests(gpu, requests);

	for (size_t r = 0; r < count; r++) {
		ssize_t length = (ssize_t)strlen(requests[r].text);
		struct state before;
		int fd;

		if (strcmp(requests[r].file, PREEMPT_TSG) &&
		    strcmp(requests[r].file, PREEMPT_RUNLIST) &&
		    strcmp(requests[r].file, RESUBMIT))
			continue;
		before = state_read(gpu);
		fd = gpu_open(gpu, requests[r].file, O_WRONLY);
		ASSERT(fd >= 0, "%s: open: %s", requests[r].file,
		       strerror(errno));
		for (int i = 0; i < 3; i++)
			EXPECT(write(fd, requests[r].text, (size_t)length) ==
			       length, "%s: write %d: %s", requests[r].file, i,
			       strerror(errno));
		EXPECT(write(fd, "x", 1) < 0 && errno == EINVAL,
		       "%s: junk after good requests", requests[r].file);
		close(fd);
		state_expect(gpu, &before, requests[r].file);
		state_free(&before);
	}
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
	{ "timeslices", "a timeslice, and that of no other TSG changes",
	  test_timeslices, SUITE_CONTROLS },
	{ "switch", "one TSG alone, until its runlist is submitted again",
	  test_switch, SUITE_CONTROLS },
	{ "mode", "the mode that the context shows follows the writes",
	  test_mode, SUITE_CONTROLS },
	{ "limits", "bad buffers and requests that are too long", test_limits,
	  SUITE_CONTROLS },
	{ "one_open", "several writes through one descriptor", test_one_open,
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
