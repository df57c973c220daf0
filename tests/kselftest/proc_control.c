// SPDX-License-Identifier: MIT OR GPL-2.0
/* What the controls of TSGs and runlists do, take and refuse. */
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
#define TARGETS_MAX 256
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

static void test_timeslice(const struct gpu *gpu)
{
	static const struct {
		const char *asked;
		unsigned int timeout, scale;
	} values[] = {
		{ "1.024", 1, 0 }, { "2.047", 1, 0 }, { "3", 2, 0 },
		{ "261.9", 255, 0 }, { "262.144", 128, 1 },
		{ "1999.99", 244, 3 }, { "8556380.160", 255, 15 },
	};
	struct tsgs tsgs;
	const struct tsg *tsg;

	need_file(gpu, TIMESLICE);
	tsgs = need_tsgs(gpu, 1);
	tsg = &tsgs.at[tsgs.count / 2];
	ASSERT(is_plain(tsg), "TSG %u has no plain timeslice", tsg->id);
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		TAKE(gpu, TIMESLICE, "%u:%u %s", tsg->runlist, tsg->id,
		     values[i].asked);
		expect_timeslice(gpu, &tsgs, tsg, values[i].timeout,
				 values[i].scale);
	}
	TAKE(gpu, TIMESLICE, "%u:%u %s", tsg->runlist, tsg->id,
	     tsg->timeslice);
	expect_timeslice(gpu, &tsgs, tsg, tsg->timeout, tsg->scale);
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

/* Asked again while in force: the other one of the whole list, not of this. */
static void test_switch_again(const struct gpu *gpu)
{
	struct state before;
	const struct tsg *first, *last;

	need_file(gpu, SWITCH);
	need_tsgs(gpu, 2);
	before = state_read(gpu);
	first = &before.tsgs.at[0];
	last = first;
	for (size_t i = 1; i < before.tsgs.count; i++)
		if (before.tsgs.at[i].runlist == first->runlist)
			last = &before.tsgs.at[i];
	if (last == first)
		ktap_skip("runlist %u has one TSG", first->runlist);
	TAKE(gpu, SWITCH, "%u:%u", first->runlist, first->id);
	TAKE(gpu, SWITCH, "%u:%u", last->runlist, last->id);
	expect_alone(gpu, &before, last);
	TAKE(gpu, SWITCH, "%u:%u\n", last->runlist, last->id);
	expect_alone(gpu, &before, last);
	TAKE(gpu, SWITCH, "%u:%u", first->runlist, first->id);
	expect_alone(gpu, &before, first);
	TAKE(gpu, RESUBMIT, "%u", first->runlist);
	state_expect(gpu, &before, "after switches and a resubmit");
}

/* All runlists that hold something, one by one and at once. */
static void expect_lists_stay(const struct gpu *gpu, const char *file)
{
	char all[BYTES_MAX] = "";
	struct state before;

	need_file(gpu, file);
	need_tsgs(gpu, 1);
	before = state_read(gpu);
	for (size_t i = 0; i < before.tsgs.count; i++) {
		unsigned int runlist = before.tsgs.at[i].runlist;

		if (i && before.tsgs.at[i - 1].runlist == runlist)
			continue;
		for (int round = 0; round < 3; round++)
			TAKE(gpu, file, "%u", runlist);
		sprintf(all + strlen(all), "%#x\n", runlist);
	}
	TAKE(gpu, file, "%s", all);
	state_expect(gpu, &before, file);
}

static void test_preempt_runlist(const struct gpu *gpu)
{
	expect_lists_stay(gpu, PREEMPT_RUNLIST);
}

static void test_resubmit(const struct gpu *gpu)
{
	expect_lists_stay(gpu, RESUBMIT);
}

static void test_preempt_tsg(const struct gpu *gpu)
{
	char all[BYTES_MAX] = "";
	struct state before;

	need_file(gpu, PREEMPT_TSG);
	need_tsgs(gpu, 1);
	before = state_read(gpu);
	for (size_t i = 0; i < before.tsgs.count && i < 32; i++) {
		const struct tsg *tsg = &before.tsgs.at[i];

		TAKE(gpu, PREEMPT_TSG, "%u:%u", tsg->runlist, tsg->id);
		sprintf(all + strlen(all), "%u:%#x ", tsg->runlist, tsg->id);
	}
	TAKE(gpu, PREEMPT_TSG, "%s", all);
	state_expect(gpu, &before, "after preempts");
}

/* An id alone means the one list that holds it. */
static void test_bare_tsg(const struct gpu *gpu)
{
	struct tsgs tsgs;
	unsigned int unused = 0;

	need_file(gpu, PREEMPT_TSG);
	tsgs = need_tsgs(gpu, 1);
	for (size_t i = 0; i < tsgs.count && i < 16; i++) {
		unsigned int id = tsgs.at[i].id;
		bool several = false;
		int error;

		for (size_t j = 0; j < tsgs.count; j++) {
			several |= tsgs.at[j].id == id &&
				   tsgs.at[j].runlist != tsgs.at[i].runlist;
			if (tsgs.at[j].id >= unused)
				unused = tsgs.at[j].id + 1;
		}
		error = control_format(gpu, PREEMPT_TSG, "%u", id);
		EXPECT(error == (several ? EINVAL : 0), "TSG %u in %s: %s", id,
		       several ? "several lists" : "one list",
		       strerror(error));
	}
	for (size_t i = 0; i < tsgs.count; i++)
		unused += tsgs.at[i].id == unused;
	EXPECT(control_format(gpu, PREEMPT_TSG, "%u", unused) == EINVAL,
	       "TSG %u, which is in no list", unused);
}

/* ---- scheduling ---- */

/* All are on, but those in `off`, an array that ends with a negative number. */
static void expect_scheduling(const struct gpu *gpu, const int *off)
{
	char *text = gpu_read(gpu, SCHEDULING, NULL), expected[8192];
	unsigned int runlists[RUNLISTS_MAX];
	size_t count = gpu_runlists(gpu, runlists, RUNLISTS_MAX);
	bool order[1024] = { false };

	ASSERT(text, SCHEDULING ": %s", strerror(errno));
	strcpy(expected, "# runlist scheduling\n");
	for (size_t i = 0; i < count; i++)
		order[runlists[i]] = true;
	for (unsigned int r = 0; r < 1024; r++) {
		bool on = true;

		for (const int *one = off; *one >= 0; one++)
			on &= (int)r != *one;
		if (order[r])
			sprintf(expected + strlen(expected), "%u %s\n", r,
				on ? "on" : "off");
	}
	EXPECT(!strcmp(text, expected), "scheduling is not as expected");
	if (strcmp(text, expected))
		ktap_note_difference(expected, text);
	free(text);
}

static void test_scheduling(const struct gpu *gpu)
{
	static const int none[] = { -1 };
	unsigned int runlists[RUNLISTS_MAX];
	size_t count;

	need_file(gpu, SCHEDULING);
	count = gpu_runlists(gpu, runlists, RUNLISTS_MAX);
	ASSERT(count, "no runlists");
	expect_scheduling(gpu, none);
	for (size_t i = 0; i < count; i++) {
		int off[] = { (int)runlists[i], -1 };

		TAKE(gpu, SCHEDULING, "%u off", runlists[i]);
		expect_scheduling(gpu, off);
		TAKE(gpu, SCHEDULING, "%u off", runlists[i]);
		expect_scheduling(gpu, off);
		TAKE(gpu, SCHEDULING, "%u on\n", runlists[i]);
		expect_scheduling(gpu, none);
	}
	if (count > 1) {
		unsigned int a = runlists[0], b = runlists[count - 1];
		int both[] = { (int)a, (int)b, -1 };

		TAKE(gpu, SCHEDULING, "%u off\n%#x off\n", a, b);
		expect_scheduling(gpu, both);
		TAKE(gpu, SCHEDULING, "  %u on   %u\non", b, a);
		expect_scheduling(gpu, none);
		/* The last word counts. */
		TAKE(gpu, SCHEDULING, "%u off\n%u off %u on", b, a, a);
		expect_scheduling(gpu, both + 1);
		TAKE(gpu, SCHEDULING, "%u on", b);
		expect_scheduling(gpu, none);
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

/* ---- what they refuse ---- */

/*
 * Not requests. '@' stands for a TSG, '%' for a channel, '&' for the TSG's
 * runlist; '~' for a TSG, '!' for an id alone, '^' for a runlist that does not
 * exist, '?' for the TSG in a runlist that does not hold it.
 */
static const struct refusal {
	const char *file;
	const char *text;
	int error;
	int or_error;
} refusals[] = {
	{ PREEMPT_TSG, "@x", EINVAL, 0 },
	{ PREEMPT_TSG, "x @", EINVAL, 0 },
	{ PREEMPT_TSG, "@ x", EINVAL, 0 },
	{ PREEMPT_TSG, "@,@", EINVAL, 0 },
	{ PREEMPT_TSG, "@:", EINVAL, 0 },
	{ PREEMPT_TSG, "&:", EINVAL, 0 },
	{ PREEMPT_TSG, ":0", EINVAL, 0 },
	{ PREEMPT_TSG, "~", EINVAL, 0 },
	{ PREEMPT_TSG, "?", EINVAL, 0 },
	{ PREEMPT_TSG, "@ ~", EINVAL, 0 },
	{ PREEMPT_TSG, "^:0", EINVAL, 0 },
	{ PREEMPT_TSG, "@ ^:0", EINVAL, 0 },
	{ PREEMPT_TSG, "100000000000000000000", ERANGE, 0 },
	{ PREEMPT_TSG, "@ &:4294967296", ERANGE, EINVAL },
	{ PREEMPT_TSG, "-1", EINVAL, 0 },
	{ PREEMPT_TSG, "&:5000", ERANGE, 0 },
	{ PREEMPT_TSG, "5000", ERANGE, 0 },

	{ SWITCH, "@ @", EINVAL, 0 },
	{ SWITCH, "@x", EINVAL, 0 },
	{ SWITCH, "@ x", EINVAL, 0 },
	{ SWITCH, "~", EINVAL, 0 },
	{ SWITCH, "?", EINVAL, 0 },
	{ SWITCH, "!", EINVAL, 0 },
	{ SWITCH, "@ ~", EINVAL, 0 },
	{ SWITCH, "^:0", EINVAL, 0 },
	{ SWITCH, "&:", EINVAL, 0 },
	{ SWITCH, "&:5000", ERANGE, 0 },
	{ SWITCH, "5000", ERANGE, 0 },
	{ SWITCH, "100000000000000000000", ERANGE, 0 },

	{ TIMESLICE, "@", EINVAL, 0 },
	{ TIMESLICE, "@ x", EINVAL, 0 },
	{ TIMESLICE, "@ 1000 x", EINVAL, 0 },
	{ TIMESLICE, "@ 1000 @ 1000", EINVAL, 0 },
	{ TIMESLICE, "@ 1000x", EINVAL, 0 },
	{ TIMESLICE, "@ 1000.0000", EINVAL, 0 },
	{ TIMESLICE, "@ 1000.5x", EINVAL, 0 },
	{ TIMESLICE, "@ 1000,5", EINVAL, 0 },
	{ TIMESLICE, "@ 1.2.3", EINVAL, 0 },
	{ TIMESLICE, "@ .", EINVAL, 0 },
	{ TIMESLICE, "@ 1e3", EINVAL, 0 },
	{ TIMESLICE, "@ -1000", EINVAL, 0 },
	{ TIMESLICE, "@ 0", ERANGE, 0 },
	{ TIMESLICE, "@ 0.000", ERANGE, 0 },
	{ TIMESLICE, "@ 1", ERANGE, 0 },
	{ TIMESLICE, "@ 1.023", ERANGE, 0 },
	{ TIMESLICE, "@ 8556380.161", ERANGE, 0 },
	{ TIMESLICE, "@ 8556381", ERANGE, 0 },
	{ TIMESLICE, "@ 4294968296", ERANGE, 0 },
	{ TIMESLICE, "@ 18446744073709552616", ERANGE, 0 },
	{ TIMESLICE, "@ 18446744073709552.616", ERANGE, 0 },
	{ TIMESLICE, "~ 1000", EINVAL, 0 },
	{ TIMESLICE, "? 1000", EINVAL, 0 },
	{ TIMESLICE, "! 1000", EINVAL, 0 },
	{ TIMESLICE, "&:5000 1000", ERANGE, 0 },
	{ TIMESLICE, "^:0 1000", EINVAL, 0 },
	{ TIMESLICE, "1000", EINVAL, 0 },
	{ TIMESLICE, "100000000000000000000 1000", ERANGE, 0 },

	{ PREEMPT_RUNLIST, "&x", EINVAL, 0 },
	{ PREEMPT_RUNLIST, "& x", EINVAL, 0 },
	{ PREEMPT_RUNLIST, "@", EINVAL, 0 },
	{ PREEMPT_RUNLIST, "^", EINVAL, 0 },
	{ PREEMPT_RUNLIST, "& ^", EINVAL, 0 },
	{ PREEMPT_RUNLIST, "&:", EINVAL, 0 },
	{ PREEMPT_RUNLIST, "-1", EINVAL, 0 },
	{ PREEMPT_RUNLIST, "100000000000000000000", ERANGE, 0 },

	{ RESUBMIT, "&x", EINVAL, 0 },
	{ RESUBMIT, "& x", EINVAL, 0 },
	{ RESUBMIT, "@", EINVAL, 0 },
	{ RESUBMIT, "^", EINVAL, 0 },
	{ RESUBMIT, "& ^", EINVAL, 0 },
	{ RESUBMIT, "-1", EINVAL, 0 },
	{ RESUBMIT, "100000000000000000000", ERANGE, 0 },

	{ SCHEDULING, "&", EINVAL, 0 },
	{ SCHEDULING, "on", EINVAL, 0 },
	{ SCHEDULING, "off &", EINVAL, 0 },
	{ SCHEDULING, "& maybe", EINVAL, 0 },
	{ SCHEDULING, "& OFF", EINVAL, 0 },
	{ SCHEDULING, "& offx", EINVAL, 0 },
	{ SCHEDULING, "&off", EINVAL, 0 },
	{ SCHEDULING, "& of", EINVAL, 0 },
	{ SCHEDULING, "& off x", EINVAL, 0 },
	{ SCHEDULING, "& off &", EINVAL, 0 },
	{ SCHEDULING, "& off on", EINVAL, 0 },
	{ SCHEDULING, "& off ^ off", EINVAL, 0 },
	{ SCHEDULING, "^ off", EINVAL, 0 },
	{ SCHEDULING, "@ off", EINVAL, 0 },
	{ SCHEDULING, "& off 100000000000000000000 off", ERANGE, 0 },

	{ MODE, "%", EINVAL, 0 },
	{ MODE, "% x", EINVAL, 0 },
	{ MODE, "% WFI", EINVAL, 0 },
	{ MODE, "% wfi x", EINVAL, 0 },
	{ MODE, "% wfi cta", EINVAL, 0 },
	{ MODE, "% wfix", EINVAL, 0 },
	{ MODE, "% gfxp", EINVAL, 0 },
	{ MODE, "wfi", EINVAL, 0 },
	{ MODE, "wfi %", EINVAL, 0 },
	{ MODE, "^:0 wfi", EINVAL, 0 },
	{ MODE, "100000000000000000000 wfi", ERANGE, 0 },
};

#define REFUSALS (sizeof(refusals) / sizeof(*refusals))

/* What every control refuses. */
static const char *const nothings[] = {
	"", " ", "\n", " \n \n", "x", ":", "0x", "*", "all", "#",
};

struct names {
	const struct tsg *tsg;
	const struct channel *channel;
	unsigned int unused_tsg, unused_runlist, other_runlist;
};

static bool holds(const struct tsgs *tsgs, unsigned int runlist,
		  unsigned int id)
{
	for (size_t i = 0; i < tsgs->count; i++)
		if (tsgs->at[i].runlist == runlist && tsgs->at[i].id == id)
			return true;
	return false;
}

static struct names names_of(const struct gpu *gpu, const struct state *state)
{
	struct names names = { .tsg = &state->tsgs.at[0] };
	unsigned int runlists[RUNLISTS_MAX];
	size_t count = gpu_runlists(gpu, runlists, RUNLISTS_MAX);

	names.channel = find_context(&state->channels);
	if (!names.channel)
		names.channel = &state->channels.at[0];
	for (size_t i = 0; i < count; i++)
		if (runlists[i] >= names.unused_runlist)
			names.unused_runlist = runlists[i] + 1;
	names.other_runlist = names.unused_runlist;
	for (size_t i = 0; i < count; i++)
		if (!holds(&state->tsgs, runlists[i], names.tsg->id))
			names.other_runlist = runlists[i];
	for (size_t i = 0; i < state->tsgs.count; i++)
		if (state->tsgs.at[i].id >= names.unused_tsg)
			names.unused_tsg = state->tsgs.at[i].id + 1;
	return names;
}

static size_t expand(const char *text, const struct names *names,
		     char expanded[400])
{
	const struct tsg *tsg = names->tsg;
	char *at = expanded;

	for (; *text; text++) {
		if (*text == '@')
			at += sprintf(at, "%u:%u", tsg->runlist, tsg->id);
		else if (*text == '%')
			at += sprintf(at, "%u:%u", names->channel->runlist,
				      names->channel->id);
		else if (*text == '&')
			at += sprintf(at, "%u", tsg->runlist);
		else if (*text == '~')
			at += sprintf(at, "%u:%u", tsg->runlist,
				      names->unused_tsg);
		else if (*text == '!')
			at += sprintf(at, "%u", names->unused_tsg);
		else if (*text == '?')
			at += sprintf(at, "%u:%u", names->other_runlist,
				      tsg->id);
		else if (*text == '^')
			at += sprintf(at, "%u", names->unused_runlist);
		else
			*at++ = *text;
	}
	*at = '\0';
	return (size_t)(at - expanded);
}

static void refuse(const struct gpu *gpu, const char *file, const void *bytes,
		   size_t size, int error, int or_error)
{
	int got = control_bytes(gpu, file, bytes, size);

	EXPECT(got == error || (or_error && got == or_error),
	       "%s: \"%.60s\" (%zu bytes): %s, want %s", file,
	       (const char *)bytes, size, got ? strerror(got) : "taken",
	       strerror(error));
}

static void test_refused(const struct gpu *gpu)
{
	struct state before;
	struct names names;

	need_tsgs(gpu, 1);
	before = state_read(gpu);
	names = names_of(gpu, &before);
	for (size_t i = 0; i < REFUSALS; i++) {
		const struct refusal *one = &refusals[i];
		char text[400];

		if (!gpu_has(gpu, one->file))
			continue;
		expand(one->text, &names, text);
		refuse(gpu, one->file, text, strlen(text), one->error,
		       one->or_error);
		if (i + 1 == REFUSALS || strcmp(one->file, one[1].file))
			state_expect(gpu, &before, one->file);
	}
}

/* On every control, also with a zero byte behind a good request. */
static void test_nothing(const struct gpu *gpu)
{
	struct request requests[REQUESTS_MAX];
	size_t count = need_requests(gpu, requests);
	struct state before = state_read(gpu);

	for (size_t r = 0; r < count; r++) {
		const char *file = requests[r].file;
		char bytes[200];
		size_t size;

		for (size_t i = 0; i < sizeof(nothings) / sizeof(*nothings);
		     i++)
			refuse(gpu, file, nothings[i], strlen(nothings[i]),
			       EINVAL, 0);
		size = strlen(requests[r].text);
		memcpy(bytes, requests[r].text, size + 1);
		refuse(gpu, file, bytes, size + 1, EINVAL, 0);
		memcpy(bytes + size + 1, requests[r].text, size);
		refuse(gpu, file, bytes, 2 * size + 1, EINVAL, 0);
		refuse(gpu, file, "\0", 1, EINVAL, 0);
	}
	state_expect(gpu, &before, "after refused writes");
}

/* A bad buffer, too many bytes, too many targets. */
static void test_limits(const struct gpu *gpu)
{
	struct request requests[REQUESTS_MAX];
	size_t count = need_requests(gpu, requests);
	struct state before = state_read(gpu);
	static char text[1 << 16];

	for (size_t r = 0; r < count; r++) {
		const char *file = requests[r].file;
		size_t length = strlen(requests[r].text), used = 0;
		int error;

		error = control_bytes(gpu, file, (void *)16, 4);
		EXPECT(error == EFAULT, "%s: %s", file, strerror(error));
		memset(text, ' ', sizeof(text));
		memcpy(text, requests[r].text, length);
		refuse(gpu, file, text, BYTES_MAX + 1, E2BIG, 0);
		refuse(gpu, file, text, sizeof(text), E2BIG, 0);
		if (strcmp(file, PREEMPT_TSG) && strcmp(file, PREEMPT_RUNLIST) &&
		    strcmp(file, RESUBMIT) && strcmp(file, SCHEDULING))
			continue;
		for (int i = 0; i < TARGETS_MAX + 1; i++)
			used += (size_t)sprintf(text + used, "%s ",
						requests[r].text);
		if (used <= BYTES_MAX)
			refuse(gpu, file, text, used, E2BIG, 0);
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

static const struct suite_test tests[] = {
	{ "timeslice", "a timeslice is the nearest below what was asked for",
	  test_timeslice, SUITE_CONTROLS },
	{ "timeslices", "and that of no other TSG changes", test_timeslices,
	  SUITE_CONTROLS },
	{ "switch", "one TSG alone, until its runlist is submitted again",
	  test_switch, SUITE_CONTROLS },
	{ "switch_again", "another TSG while one has its runlist",
	  test_switch_again, SUITE_CONTROLS },
	{ "preempt_tsg", "preempted TSGs stay in their lists",
	  test_preempt_tsg, SUITE_CONTROLS },
	{ "preempt_runlist", "preempted runlists stay as they are",
	  test_preempt_runlist, SUITE_CONTROLS },
	{ "resubmit", "runlists submitted again stay as they are",
	  test_resubmit, SUITE_CONTROLS },
	{ "bare_tsg", "an id alone needs exactly one list that holds it",
	  test_bare_tsg, SUITE_CONTROLS },
	{ "scheduling", "each runlist off and on", test_scheduling,
	  SUITE_CONTROLS },
	{ "mode", "the mode that the context shows follows the writes",
	  test_mode, SUITE_CONTROLS },
	{ "refused", "what is no request changes nothing", test_refused,
	  SUITE_CONTROLS },
	{ "nothing", "neither does nothing, or a zero byte", test_nothing,
	  SUITE_CONTROLS },
	{ "limits", "bad buffers and requests that are too long", test_limits,
	  SUITE_CONTROLS },
	{ "one_open", "several writes through one descriptor", test_one_open,
	  SUITE_CONTROLS },
};

int main(int argc, char **argv)
{
	return SUITE_MAIN(argc, argv, tests);
}
