/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Counts the operations of all processes of a test, by kind and result, and
 * checks their errors.
 */
#ifndef TALLY_H
#define TALLY_H

#include <stdbool.h>
#include <stddef.h>

#define TALLY_KINDS 64
#define TALLY_ERRNOS 134
#define TALLY_ALLOWED 32

struct tally_kind {
	const char *name;
	int allowed[TALLY_ALLOWED]; /* errnos, up to the first 0 */
};

/* Makes a tally. Processes that are forked later share it. */
struct tally *tally_make(const struct tally_kind *kinds, size_t count);
void tally_free(struct tally *tally);

/*
 * Counts an operation; `error` is 0 or an errno. Fails the test if this kind
 * may not have that error. Returns true if the operation was done.
 */
bool tally_count(struct tally *tally, size_t kind, int error);
/* Counts a call that returns a negative number and sets errno. */
bool tally_call(struct tally *tally, size_t kind, long result);

/* Tells all processes that count into the tally to end. */
void tally_end(struct tally *tally);
bool tally_has_ended(const struct tally *tally);

/*
 * tally_total() is the number of operations that were tried, of all kinds;
 * tally_done() the number of one kind that were done.
 */
unsigned long tally_total(const struct tally *tally);
unsigned long tally_done(const struct tally *tally, size_t kind);

/* A line of diagnosis for each kind that was tried. */
void tally_note(const struct tally *tally);

#endif
