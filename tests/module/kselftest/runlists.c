// SPDX-License-Identifier: MIT OR GPL-2.0
/* The text of runlistY files: boxes of "| Key: value |" lines under titles. */
#include <stdio.h>
#include <stdlib.h>

#include "boxes.h"
#include "gpus.h"
#include "ktap.h"

/* Keys whose values do not change by themselves: see runlist_skeleton(). */
static const char *const steady_keys[] = {
	"Entries", "TSGs", "Channels", "Address", "Aperture", "Snapshot",
	"Scale", "Timeout", "Timeslice (us)", "Length", "Truncated",
	"Enabled", "Bound", "Runqueue", "Instance Block",
	"Instance Aperture", "Error",
	"Page Tables", "Big Page Size (KiB)", "Page Directory",
	"Page Directory Aperture", "Page Directory Volatile", "VA Limit",
	"Target Engine", "Privileged", "VEID", "PASID", "ATS",
	"Engine WFI Pointer", "Engine WFI Aperture", "Engine WFI Mode",
	"Subcontexts", "Context", "Same as Channel",
	"Context ID", "Type", "Graphics Preemption", "Compute Preemption",
	"Image", "Image Address", "Image Aperture",
};

/* Makes room for one more element. */
static void *grow(void *array, size_t count, size_t size)
{
	array = realloc(array, (count + 1) * size);
	ASSERT(array, "no memory for %zu entries", count + 1);
	return array;
}

void runlist_channels(const char *text, unsigned int runlist,
		      struct channels *channels)
{
	struct channel channel = { .runlist = runlist };
	enum box_kind kind = BOX_KINDS;
	struct channel *last = NULL;
	struct line line;

	while (next_line(&text, &line)) {
		if (line.title) {
			kind = line.kind;
			if (kind == BOX_TSG)
				channel.tsg = line.number;
		}
		if (line.title && kind == BOX_CHANNEL) {
			channel.id = line.number;
			channel.in_tsg = line.indent > 0;
			last = NULL;
		}
		if (kind == BOX_CHANNEL && !strcmp(line.key, "Enabled")) {
			channels->at = grow(channels->at, channels->count,
					    sizeof(channel));
			last = &channels->at[channels->count++];
			*last = channel;
			last->enabled = !strcmp(line.value, "1");
		}
		if (kind == BOX_CONTEXT && last &&
		    !strcmp(line.key, "Compute Preemption"))
			snprintf(last->compute, sizeof(last->compute), "%.7s",
				 line.value);
	}
}

void runlist_tsgs(const char *text, unsigned int runlist, struct tsgs *tsgs)
{
	enum box_kind kind = BOX_KINDS;
	struct tsg *last = NULL;
	struct line line;

	while (next_line(&text, &line)) {
		if (line.title)
			kind = line.kind;
		if (line.title && kind == BOX_TSG) {
			tsgs->at = grow(tsgs->at, tsgs->count, sizeof(*last));
			last = &tsgs->at[tsgs->count++];
			memset(last, 0, sizeof(*last));
			last->runlist = runlist;
			last->id = line.number;
		}
		if (kind != BOX_TSG)
			continue;
		if (!strcmp(line.key, "Timeout"))
			last->timeout = atoi(line.value);
		if (!strcmp(line.key, "Scale"))
			last->scale = atoi(line.value);
		if (!strcmp(line.key, "Timeslice (us)"))
			snprintf(last->timeslice, sizeof(last->timeslice),
				 "%.23s", line.value);
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

char *gpu_runlist(const struct gpu *gpu, unsigned int runlist)
{
	char file[32], *text;

	snprintf(file, sizeof(file), "runlist%u", runlist);
	text = gpu_read(gpu, file, NULL);
	ASSERT(text, "%s/%s: %s", gpu->name, file, strerror(errno));
	return text;
}

struct channels gpu_channels(const struct gpu *gpu)
{
	struct channels channels = { NULL, 0 };
	unsigned int runlists[RUNLISTS_MAX];
	size_t count = gpu_runlists(gpu, runlists, RUNLISTS_MAX);

	for (size_t i = 0; i < count; i++) {
		char *text = gpu_runlist(gpu, runlists[i]);

		runlist_channels(text, runlists[i], &channels);
		free(text);
	}
	return channels;
}

struct tsgs gpu_tsgs(const struct gpu *gpu)
{
	struct tsgs tsgs = { NULL, 0 };
	unsigned int runlists[RUNLISTS_MAX];
	size_t count = gpu_runlists(gpu, runlists, RUNLISTS_MAX);

	for (size_t i = 0; i < count; i++) {
		char *text = gpu_runlist(gpu, runlists[i]);

		runlist_tsgs(text, runlists[i], &tsgs);
		free(text);
	}
	return tsgs;
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
