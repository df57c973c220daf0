/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The model behind a GPU makes one access after the other go wrong, of everything
 * that the GPU's files can be asked for.
 */
#ifndef SWEEP_H
#define SWEEP_H

#include <stdbool.h>
#include <stddef.h>

#include "gpus.h"
#include "ops.h"

/* At so many accesses of each, evenly spread; 0: at every one. */
extern unsigned long sweep_points;

/* What takes this long hangs. */
#define SWEEP_DEADLINE_S 60
#define SWEEP_ERRNOS 8

/* One way of going wrong: the model's fault, with the access's number. */
struct sweep_fault {
	char spec[64];
	/* errnos of reading and asking, and of controls and leases; 0 ends them */
	int read[SWEEP_ERRNOS];
	int write[SWEEP_ERRNOS];
	bool lies; /* what is read without an error need not be true */
	bool whole; /* it is there from the start */
	bool some; /* there may be nothing to hit */
	bool moves; /* the driver does something */
	bool awaits; /* some take a deadline or two */
	bool slow; /* each one does: every hundredth point */
	unsigned long times; /* of what a whole operation takes */
};

struct sweep_tally {
	unsigned long injected, survived[OP_KINDS][256];
	unsigned long accesses, lines; /* the most */
};

void sweep_fault_begin(int model, const struct sweep_fault *fault,
		       unsigned long n);
/* Ends what faults there are; how many accesses there were, and how many hit. */
unsigned long sweep_fault_end(int model, unsigned long *hits);

/* Lines in the log but those with this text. */
size_t sweep_log_lines(const char *what, int log, char **said);

/* Every operation, with each of the faults at its accesses. */
void sweep_faults(const struct gpu *gpu, const struct sweep_fault *faults,
		  size_t fault_count);
/* The same fault with each of these words in its place. */
void sweep_words(const struct gpu *gpu, const struct sweep_fault *like,
		 const char *const *words, size_t count);

void sweep_note(const struct gpu *gpu, const struct sweep_fault *fault,
		const struct sweep_tally *tally);

#endif
