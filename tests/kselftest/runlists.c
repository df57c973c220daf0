// SPDX-License-Identifier: MIT OR GPL-2.0
/* The text of runlistY files: boxes of "| Key: value |" lines under titles. */
#include <stdio.h>
#include <stdlib.h>

#include "gpus.h"
#include "ktap.h"

#define RUNLISTS_MAX 64

/* What may change by itself is left out: see runlist_skeleton(). */
static const char *const steady_keys[] = {
	"Entries",	   "TSGs",    "Channels", "Address",
	"Aperture",	   "Snapshot", "Scale",	  "Timeout",
	"Timeslice (us)",  "Length",  "Truncated", "Enabled",
	"Bound",	   "Runqueue", "Instance Block",
	"Instance Aperture", "Error",
};

struct line {
	const char *start; /* without the indent */
	size_t length; /* without the newline */
	bool title; /* the top of a box */
	char text[80]; /* its beginning */
	char key[32]; /* "" if it has none */
	char value[64];
};

/* Moves on to the next line; false at the end of the text. */
static bool next_line(const char **text, struct line *line)
{
	if (!**text)
		return false;
	line->start = *text + strspn(*text, " ");
	line->length = strcspn(line->start, "\n");
	*text = line->start + line->length;
	*text += **text == '\n';
	/* sscanf() looks for the end of what it is given first. */
	snprintf(line->text, sizeof(line->text), "%.*s", (int)line->length,
		 line->start);
	line->title = line->text[0] == '+' &&
		      line->text[strspn(line->text, "+-")];
	if (sscanf(line->text, "| %31[^:]: %63[^ |]", line->key,
		   line->value) != 2)
		line->key[0] = '\0';
	return true;
}

void runlist_channels(const char *text, unsigned int runlist,
		      struct channels *channels)
{
	struct channel channel = { .runlist = runlist };
	bool in_channel = false;
	struct line line;

	while (next_line(&text, &line)) {
		if (line.title)
			in_channel = sscanf(line.text,
					    "%*[+-] Channel Info %u",
					    &channel.id) == 1;
		if (!in_channel || strcmp(line.key, "Enabled"))
			continue;
		channel.enabled = !strcmp(line.value, "1");
		channels->at = realloc(channels->at, (channels->count + 1) *
						     sizeof(channel));
		ASSERT(channels->at, "no memory for %zu channels",
		       channels->count + 1);
		channels->at[channels->count++] = channel;
	}
}

static bool is_steady(const struct line *line)
{
	if (line->title)
		return true;
	for (size_t i = 0; i < sizeof(steady_keys) / sizeof(*steady_keys); i++)
		if (!strcmp(line->key, steady_keys[i]))
			return true;
	return false;
}

char *runlist_skeleton(const char *text)
{
	char *skeleton = malloc(strlen(text) + 2), *at = skeleton;
	struct line line;

	ASSERT(skeleton, "no memory for a runlist");
	while (next_line(&text, &line)) {
		if (!is_steady(&line))
			continue;
		memcpy(at, line.start, line.length);
		at += line.length;
		*at++ = '\n';
	}
	*at = '\0';
	return skeleton;
}

struct channels gpu_channels(const struct gpu *gpu)
{
	struct channels channels = { NULL, 0 };
	unsigned int runlists[RUNLISTS_MAX];
	size_t count = gpu_runlists(gpu, runlists, RUNLISTS_MAX);

	for (size_t i = 0; i < count; i++) {
		char file[32], *text;

		snprintf(file, sizeof(file), "runlist%u", runlists[i]);
		text = gpu_read(gpu, file, NULL);
		ASSERT(text, "%s/%s: %s", gpu->name, file, strerror(errno));
		runlist_channels(text, runlists[i], &channels);
		free(text);
	}
	return channels;
}

bool channels_match(const struct channel *a, const struct channel *b)
{
	return a->runlist == b->runlist && a->id == b->id;
}

struct channel *channels_find(const struct channels *channels,
			      const struct channel *channel)
{
	for (size_t i = 0; i < channels->count; i++)
		if (channels_match(&channels->at[i], channel))
			return &channels->at[i];
	return NULL;
}

bool channels_same(const struct channels *a, const struct channels *b)
{
	bool same = a->count == b->count;

	if (!same)
		ktap_note("%zu channels became %zu", a->count, b->count);
	for (size_t i = 0; i < a->count && same; i++) {
		const struct channel *x = &a->at[i], *y = &b->at[i];

		same = channels_match(x, y) && x->enabled == y->enabled;
		if (!same)
			ktap_note("channel %u:%u enabled %d became %u:%u enabled %d",
				  x->runlist, x->id, x->enabled, y->runlist,
				  y->id, y->enabled);
	}
	return same;
}
