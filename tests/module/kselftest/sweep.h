/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The model behind a GPU makes one access after the other go wrong, for
 * everything that the GPU's files can be asked for.
 */
#ifndef SWEEP_H
#define SWEEP_H

#include <stdbool.h>
#include <stddef.h>

#include "gpus.h"
#include "ops.h"

/*
 * Number of accesses of each operation that go wrong, evenly spread; 0: all of
 * them.
 */
extern unsigned long sweep_points;

/* An operation that takes this long hangs. */
#define SWEEP_DEADLINE_S 60
#define SWEEP_ERRNOS 8

/* A fault: the model's specification, with the access's number in it. */
struct sweep_fault {
	char spec[64];
	/*
	 * Allowed errnos of reading and asking, and of controls and leases; 0
	 * ends each.
	 */
	int read[SWEEP_ERRNOS];
	int write[SWEEP_ERRNOS];
	bool lies; /* text without an error may be wrong */
	bool whole; /* fault exists from the start */
	bool some; /* fault may hit no access */
	bool moves; /* fault makes the driver do something */
	bool awaits; /* some operations take a deadline or two */
	bool slow; /* all take that: every hundredth point */
	unsigned long times; /* bound on accesses, in whole operations */
};

struct sweep_tally {
	unsigned long injected, survived[OP_KINDS][256];
	unsigned long accesses, lines; /* the most */
};

void sweep_fault_begin(int model, const struct sweep_fault *fault,
		       unsigned long n);
/*
 * Ends all faults. Returns the number of accesses, and sets *@hits to the
 * number that faults hit.
 */
unsigned long sweep_fault_end(int model, unsigned long *hits);

/* Returns how many lines the log has without this text. */
size_t sweep_log_lines(const char *what, int log, char **said);

/* Tries every operation, with each of the faults at its accesses. */
void sweep_faults(const struct gpu *gpu, const struct sweep_fault *faults,
		  size_t fault_count);
/* Tries the fault with each of these words in its place. */
void sweep_words(const struct gpu *gpu, const struct sweep_fault *like,
		 const char *const *words, size_t count);

void sweep_note(const struct gpu *gpu, const struct sweep_fault *fault,
		const struct sweep_tally *tally);

#endif
