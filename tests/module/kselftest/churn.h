/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * GPUs leave and come back, and the module is unloaded and loaded, while other
 * processes work. The number of actions of those processes decides how often
 * that happens, and not the time.
 */
#ifndef CHURN_H
#define CHURN_H

#include "gpus.h"
#include "random.h"
#include "tally.h"

/* The tally, and the kinds in it that the processes below count into. */
struct churn {
	struct tally *tally;
	size_t removed, rescanned, unloaded, loaded;
	/*
	 * A turn comes after about so many counts; sooner while a GPU has no
	 * folder.
	 */
	unsigned long every;
	uint64_t seed;
};

#define CHURN_KINDS(at)                                \
	[at] = { "GPUs removed", { 0 } },              \
	[at + 1] = { "buses rescanned", { 0 } },       \
	[at + 2] = { "modules unloaded", { 0 } },      \
	[at + 3] = { "modules loaded", { 0 } }

/*
 * Start processes that go on until the tally has ended. Then all GPUs are
 * there, and the module is loaded.
 */
int churn_start_gpus(const struct churn *churn, const struct gpu *gpus);
int churn_start_module(const struct churn *churn);

#endif
