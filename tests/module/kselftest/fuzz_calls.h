/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Makes system calls at random. */
#ifndef FUZZ_CALLS_H
#define FUZZ_CALLS_H

#include <stddef.h>

#include "churn.h"
#include "fuzzer.h"
#include "tally.h"

enum {
	FUZZ_CALLS = 28,
	FUZZ_FAULTS = FUZZ_CALLS,
	FUZZ_CHURNS,
	FUZZ_KINDS = FUZZ_CHURNS + 4,
};

/* The errors that calls, faults and comings and goings may have. */
extern const struct tally_kind fuzz_kinds[FUZZ_KINDS];

/* Makes any call. Returns its kind, and its result with errno. */
size_t fuzz_call(struct fuzzer *f, long *result);

#endif
