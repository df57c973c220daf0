// SPDX-License-Identifier: MIT OR GPL-2.0
#include "state.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "controls.h"
#include "ktap.h"

bool state_is_readable(const struct gpu *gpu)
{
	unsigned int runlists[RUNLISTS_MAX];
	size_t count = gpu_runlists(gpu, runlists, RUNLISTS_MAX);
	bool readable = true;

	for (size_t i = 0; i < count && readable; i++) {
		char file[32], *text;

		snprintf(file, sizeof(file), "runlist%u", runlists[i]);
		text = gpu_read(gpu, file, NULL);
		readable = text;
		free(text);
	}
	return readable;
}

struct state state_read(const struct gpu *gpu)
{
	unsigned int runlists[RUNLISTS_MAX];
	size_t count = gpu_runlists(gpu, runlists, RUNLISTS_MAX), size;
	struct state state = { 0 };
	FILE *out = open_memstream(&state.text, &size);

	ASSERT(out, "no memory for a state");
	for (size_t i = 0; i < count; i++) {
		char *text = gpu_runlist(gpu, runlists[i]);
		char *skeleton = runlist_skeleton(text);

		runlist_channels(text, runlists[i], &state.channels);
		runlist_tsgs(text, runlists[i], &state.tsgs);
		fprintf(out, "%s", skeleton);
		free(skeleton);
		free(text);
	}
	if (gpu_has(gpu, SCHEDULING))
		state.scheduling = gpu_read(gpu, SCHEDULING, NULL);
	else
		state.scheduling = strdup("");
	ASSERT(state.scheduling, "%s/" SCHEDULING ": %s", gpu->name,
	       strerror(errno));
	fprintf(out, "%s", state.scheduling);
	fclose(out);
	return state;
}

void state_free(struct state *state)
{
	free(state->text);
	free(state->scheduling);
	free(state->channels.at);
	free(state->tsgs.at);
}

void state_expect(const struct gpu *gpu, const struct state *before,
		  const char *when)
{
	struct state now = state_read(gpu);

	if (strcmp(before->text, now.text)) {
		EXPECT(false, "%s: not as it was, %s", gpu->name, when);
		ktap_note_difference(before->text, now.text);
	}
	state_free(&now);
}

static void restore_lists(const struct gpu *gpu, const struct state *before)
{
	const struct tsg *last = NULL;
	struct tsgs now;

	for (size_t i = 0; i < before->tsgs.count; i++) {
		const struct tsg *tsg = &before->tsgs.at[i];

		if (!last || last->runlist != tsg->runlist)
			control_format(gpu, RESUBMIT, "%u", tsg->runlist);
		last = tsg;
	}
	now = gpu_tsgs(gpu);
	for (size_t i = 0; i < before->tsgs.count; i++) {
		const struct tsg *tsg = &before->tsgs.at[i];

		/* Not every value of a header can be requested. */
		if (i < now.count && now.at[i].timeout == tsg->timeout &&
		    now.at[i].scale == tsg->scale)
			continue;
		control_format(gpu, TIMESLICE, "%u:%u %s", tsg->runlist,
			       tsg->id, tsg->timeslice);
	}
	free(now.at);
}

static void restore_scheduling(const struct gpu *gpu, const char *text)
{
	text += strcspn(text, "\n");
	for (; *text; text += strcspn(text, "\n")) {
		text++;
		if (*text)
			control_format(gpu, SCHEDULING, "%.*s",
				       (int)strcspn(text, "\n"), text);
	}
}

/* "CTA" of a runlist file is "cta" for preemption_mode. */
static void mode_word(const char *shown, char word[8])
{
	size_t i = 0;

	for (; shown[i] && i < 7; i++)
		word[i] = (char)tolower((unsigned char)shown[i]);
	word[i] = '\0';
}

static void restore_modes(const struct gpu *gpu,
			  const struct channels *channels)
{
	for (size_t i = 0; i < channels->count; i++) {
		const struct channel *channel = &channels->at[i];
		char mode[sizeof(channel->compute)];

		if (!channel->compute[0] || channel->compute[0] == '-')
			continue;
		mode_word(channel->compute, mode);
		control_format(gpu, MODE, "%u:%u %s", channel->runlist,
			       channel->id, mode);
	}
}

void state_restore(const struct gpu *gpu, const struct state *before)
{
	struct state now = state_read(gpu);
	bool same = !strcmp(before->text, now.text);

	state_free(&now);
	if (same)
		return;
	if (gpu_has(gpu, SCHEDULING)) {
		restore_scheduling(gpu, before->scheduling);
		restore_lists(gpu, before);
	}
	if (gpu_has(gpu, MODE))
		restore_modes(gpu, &before->channels);
	restore_channels(gpu, &before->channels);
}
