/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * How often what was done, with which result, by all processes of a test; and
 * which errors it may have.
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

/* Shared by the processes that are forked after it was made. */
struct tally *tally_make(const struct tally_kind *kinds, size_t count);
void tally_free(struct tally *tally);

/*
 * Counts one, `error` being 0 or an errno; fails the test if this kind may not
 * have that error. True if it was done.
 */
bool tally_count(struct tally *tally, size_t kind, int error);
/* The same of a call that returns a negative number and sets errno. */
bool tally_call(struct tally *tally, size_t kind, long result);

/* Makes all that count into it come to an end. */
void tally_end(struct tally *tally);
bool tally_has_ended(const struct tally *tally);

/* Of all kinds: how many were tried; of one: how many were done. */
unsigned long tally_total(const struct tally *tally);
unsigned long tally_done(const struct tally *tally, size_t kind);

/* A line of diagnosis for each kind that was tried. */
void tally_note(const struct tally *tally);

#endif
