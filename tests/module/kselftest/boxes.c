// SPDX-License-Identifier: MIT OR GPL-2.0
#include "boxes.h"

#include <stdio.h>
#include <string.h>

#define KEYS_MAX 24
#define SUBCONTEXTS_MAX 64

static const struct {
	const char *title; /* of what follows the dashes */
	bool numbered;
	const char *keys[KEYS_MAX];
} kinds[BOX_KINDS] = {
	[BOX_RUNLIST] = { "Runlist", true, {
		"Entries", "TSGs", "Channels", "Pending", "Address", "Aperture",
		"Snapshot" } },
	[BOX_TSG] = { "TSG Entry", true, {
		"Scale", "Timeout", "Timeslice (us)", "Length",
		"Truncated" } },
	[BOX_CHANNEL] = { "Channel Info", true, {
		"Enabled", "Next", "Force CTX Reload", "Enable set",
		"Enable clear", "PBDMA Faulted", "ENG Faulted", "Status",
		"Busy", "Status Name", "Bound", "Runqueue", "Instance Block",
		"Instance Aperture", "On PBDMA", "On ENG", "Pending",
		"CTX Reload", "PBDMA Busy", "ENG Busy", "Acquire Fail",
		"Error" } },
	[BOX_UNKNOWN] = { "Unknown Entry", true, {
		"Word 0", "Word 1", "Word 2", "Word 3" } },
	[BOX_INSTANCE] = { "Instance Block", false, {
		"Page Tables", "Big Page Size (KiB)", "Page Directory",
		"Page Directory Aperture", "Page Directory Volatile",
		"VA Limit", "Target Engine", "Privileged", "VEID", "PASID",
		"ATS", "Engine WFI Pointer", "Engine WFI Aperture",
		"Engine WFI Mode", "Subcontexts", "Context", "Error",
		"Same as Channel" } },
	[BOX_SUBCONTEXT] = { "Subcontext", true, {
		"Page Directory", "Page Directory Aperture",
		"Page Directory Volatile", "PASID", "ATS" } },
	[BOX_CONTEXT] = { "Context", false, {
		"Context ID", "Type", "Graphics Preemption",
		"Compute Preemption", "Saves", "Restores", "WFI Saves",
		"CTA Saves", "GFXP Saves", "CILP Saves", "Image",
		"Image Address", "Image Aperture" } },
};

static size_t key_count(enum box_kind kind)
{
	size_t count = 0;

	while (count < KEYS_MAX && kinds[kind].keys[count])
		count++;
	return count;
}

/* A key's place in its box, -1 if it does not belong there. */
static int key_place(enum box_kind kind, const char *key)
{
	for (size_t i = 0; i < key_count(kind); i++)
		if (!strcmp(kinds[kind].keys[i], key))
			return (int)i;
	return -1;
}

static void parse_title(struct line *line)
{
	const char *name = line->text + strspn(line->text, "+- ");
	size_t dashes = strcspn(name, "+");

	line->kind = BOX_KINDS;
	for (int i = 0; i < BOX_KINDS; i++) {
		size_t length = strlen(kinds[i].title);
		const char *rest = name + length;
		int end = 0;

		if (strncmp(name, kinds[i].title, length) || *rest != ' ')
			continue;
		if (kinds[i].numbered &&
		    (sscanf(rest, " %u%n", &line->number, &end) != 1 || !end))
			continue;
		rest += end;
		if (*rest == ' ' &&
		    rest + 1 + strspn(rest + 1, "-") == name + dashes)
			line->kind = (enum box_kind)i;
	}
}

bool next_line(const char **text, struct line *line)
{
	if (!**text)
		return false;
	line->indent = strspn(*text, " ");
	line->start = *text + line->indent;
	line->length = strcspn(line->start, "\n");
	*text = line->start + line->length;
	*text += **text == '\n';
	/* sscanf() looks for the end of what it is given first. */
	snprintf(line->text, sizeof(line->text), "%.*s", (int)line->length,
		 line->start);
	line->rule = line->text[0] == '+' &&
		     !line->text[strspn(line->text, "+-")];
	line->title = line->text[0] == '+' && !line->rule;
	if (line->title)
		parse_title(line);
	if (sscanf(line->text, "| %31[^:]: %63[^ |]", line->key,
		   line->value) != 2)
		line->key[0] = '\0';
	return true;
}

static bool is_printable(const struct line *line)
{
	for (size_t i = 0; i < line->length; i++)
		if (line->start[i] < ' ' || line->start[i] > '~')
			return false;
	return true;
}

/* May a box of this kind stand there, after a channel's with that indent? */
static bool is_placed(const struct line *line, bool first, bool below_channel,
		      size_t channel_indent)
{
	switch (line->kind) {
	case BOX_RUNLIST:
		return first && !line->indent;
	case BOX_TSG:
	case BOX_UNKNOWN:
		return !first && !line->indent;
	case BOX_CHANNEL:
		return !first && (line->indent == 0 || line->indent == 2);
	default:
		return below_channel && line->indent == channel_indent + 2;
	}
}

const char *boxes_fault(const char *text, struct line *line)
{
	bool open = false, first = true, below_channel = false;
	enum box_kind kind = BOX_KINDS;
	size_t indent = 0, channel_indent = 0;
	unsigned long seen = 0; /* keys of this box */

	memset(line, 0, sizeof(*line));
	while (next_line(&text, line)) {
		int place;

		if (line->indent + line->length != BOX_COLUMNS)
			return "not 48 columns";
		if (!is_printable(line))
			return "not printable";
		if (line->title) {
			if (open)
				return "a box in a box";
			if (line->kind == BOX_KINDS)
				return "an unknown box";
			if (!is_placed(line, first, below_channel,
				       channel_indent))
				return "a box where it does not belong";
			kind = line->kind;
			indent = line->indent;
			if (kind == BOX_CHANNEL)
				channel_indent = indent;
			below_channel = kind == BOX_CHANNEL ||
					kind >= BOX_INSTANCE;
			open = true;
			first = false;
			seen = 0;
			continue;
		}
		if (!open)
			return "a line outside of a box";
		if (line->indent != indent)
			return "indented otherwise than its box";
		if (line->rule) {
			open = false;
			continue;
		}
		if (!line->key[0] || line->text[BOX_COLUMNS - indent - 1] != '|')
			return "not a key and a value";
		place = key_place(kind, line->key);
		if (place < 0)
			return "a key that its box does not have";
		if (seen & (1UL << place))
			return "a key twice";
		seen |= 1UL << place;
	}
	if (first)
		return "no box";
	return open ? "a box without an end" : NULL;
}

/* Title, keys and rule. */
static size_t box_lines(enum box_kind kind)
{
	return key_count(kind) + 2;
}

size_t boxes_most(size_t entries)
{
	size_t channel = box_lines(BOX_CHANNEL) + box_lines(BOX_INSTANCE) +
			 SUBCONTEXTS_MAX * box_lines(BOX_SUBCONTEXT) +
			 box_lines(BOX_CONTEXT);

	return (box_lines(BOX_RUNLIST) + entries * channel) *
	       (BOX_COLUMNS + 1);
}
