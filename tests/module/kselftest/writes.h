/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Counts for each kind of file how many writes were taken. */
#ifndef WRITES_H
#define WRITES_H

#include <stdbool.h>

/* Makes the counts. Processes that are forked later share them. */
struct writes *writes_make(void);

/* Counts a write, if it goes through a file of a GPU. */
void writes_count(struct writes *writes, int fd, bool taken);

/*
 * Prints a line of diagnosis for each kind and for all; returns the share of
 * all in percent.
 */
unsigned long writes_note(const struct writes *writes);

#endif
