/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The form of runlistY and runlistY_brief: boxes of "| Key: value |" lines. */
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
	unsigned int number; /* in a title that has one */
	char text[80]; /* its beginning */
	char key[32]; /* "" if it has none */
	char value[64]; /* its first word */
};

/* Moves on to the next line; false at the end of the text. */
bool next_line(const char **text, struct line *line);

/*
 * Returns NULL if the text is whole: each line 48 columns of printable ASCII, in
 * known boxes that end. Otherwise returns what is wrong; `line` is then the one
 * in question. Which keys a box has: tests/module/core/boxes_test.cpp.
 */
const char *boxes_fault(const char *text, struct line *line);

/* The bytes that a file for so many entries has at most. */
size_t boxes_most(size_t entries);

#endif
