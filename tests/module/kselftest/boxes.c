// SPDX-License-Identifier: MIT OR GPL-2.0
#include "boxes.h"

#include <stdio.h>
#include <string.h>

/* The most boxes of an entry of a list, and the most lines of a box. */
#define BOXES_MAX 67 /* an instance block, 64 subcontexts and a context */
#define LINES_MAX 24

static const struct {
	const char *title; /* without the dashes before it */
	bool numbered;
} kinds[BOX_KINDS] = {
	[BOX_RUNLIST] = { "Runlist", true },
	[BOX_TSG] = { "TSG Entry", true },
	[BOX_CHANNEL] = { "Channel Info", true },
	[BOX_UNKNOWN] = { "Unknown Entry", true },
	[BOX_INSTANCE] = { "Instance Block", false },
	[BOX_SUBCONTEXT] = { "Subcontext", true },
	[BOX_CONTEXT] = { "Context", false },
};

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
	/*
	 * sscanf() first looks for the end of its string, so it gets a short
	 * copy.
	 */
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

const char *boxes_fault(const char *text, struct line *line)
{
	bool open = false, first = true;

	memset(line, 0, sizeof(*line));
	while (next_line(&text, line)) {
		if (line->indent + line->length != BOX_COLUMNS)
			return "not 48 columns";
		if (!is_printable(line))
			return "not printable";
		if (line->title && (open || line->kind == BOX_KINDS))
			return open ? "a box in a box" : "an unknown box";
		if (!open && !line->title)
			return "a line outside of a box";
		if (!line->title && !line->rule && !line->key[0])
			return "not a key and a value";
		open = !line->rule;
		first = false;
	}
	if (first)
		return "no box";
	return open ? "a box without an end" : NULL;
}

size_t boxes_most(size_t entries)
{
	return (1 + entries * BOXES_MAX) * LINES_MAX * (BOX_COLUMNS + 1);
}
