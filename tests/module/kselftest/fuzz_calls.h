/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* System calls at random. */
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

/* Of calls, faults and what comes and goes: which errors they may have. */
extern const struct tally_kind fuzz_kinds[FUZZ_KINDS];

/* Makes any call: its kind, and what it returned, with errno. */
size_t fuzz_call(struct fuzzer *f, long *result);

#endif
