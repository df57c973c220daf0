/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Parses runlistY and runlistY_brief, which consist of boxes of "| Key: value
 * |" lines.
 */
#ifndef BOXES_H
#define BOXES_H

#include <stdbool.h>
#include <stddef.h>

#define BOX_COLUMNS 48

enum box_kind {
	BOX_RUNLIST,
	BOX_TSG,
	BOX_CHANNEL,
	BOX_UNKNOWN,
	BOX_INSTANCE,
	BOX_SUBCONTEXT,
	BOX_CONTEXT,
	BOX_KINDS,
};

struct line {
	const char *start; /* without the indent */
	size_t indent;
	size_t length; /* without the indent and the newline */
	bool title; /* the top of a box */
	bool rule; /* the bottom of a box */
	enum box_kind kind; /* if it is a title; BOX_KINDS for an unknown one */
	unsigned int number; /* number in the title, if it has one */
	char text[80]; /* beginning of the line */
	char key[32]; /* "" for a line without a key */
	char value[64]; /* first word of the value */
};

/* Moves on to the next line; false at the end of the text. */
bool next_line(const char **text, struct line *line);

/*
 * Returns NULL if the text is whole: each line is 48 columns of printable
 * ASCII, in known boxes that end. Otherwise returns the fault, and `line` is
 * the bad line. tests/module/core/boxes_test.cpp checks the keys of each kind
 * of box.
 */
const char *boxes_fault(const char *text, struct line *line);

/* Returns the most bytes that a file for so many entries can have. */
size_t boxes_most(size_t entries);

#endif
