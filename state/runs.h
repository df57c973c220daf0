/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Requests for the runs of a structure.
 */
#ifndef NVDEBUG_STATE_RUNS_H
#define NVDEBUG_STATE_RUNS_H

#include "core/machine.h"
#include "decode/words.h"

/* Want @run of the structure at @addr: add @want to @wanted. */
static inline void nvdebug_run_want(struct nvdebug_mem_request *want, u64 addr,
				    u8 aperture, struct nvdebug_words run,
				    u32 *word, struct list_head *wanted)
{
	*want = (struct nvdebug_mem_request) {
		.addr = addr + run.first * sizeof(u32),
		.aperture = aperture,
		.words = run.count,
		.buf = word,
	};
	list_add_tail(&want->node, wanted);
}

/* The same for all runs, to be stored in @word one after the other. */
static inline void nvdebug_runs_want(struct nvdebug_mem_request *want, u64 addr,
				     u8 aperture,
				     const struct nvdebug_runs *runs, u32 *word,
				     struct list_head *wanted)
{
	u32 i;

	for (i = 0; i < NVDEBUG_RUNS && runs->run[i].count; i++) {
		nvdebug_run_want(&want[i], addr, aperture, runs->run[i], word,
				 wanted);
		word += runs->run[i].count;
	}
}

/* The error of the first of NVDEBUG_RUNS requests that failed, or 0. */
static inline int nvdebug_runs_error(const struct nvdebug_mem_request *want)
{
	u32 i = 0;

	while (i < NVDEBUG_RUNS - 1 && !want[i].error)
		i++;
	return want[i].error;
}

#endif
