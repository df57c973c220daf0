/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Read the runs of a structure in a fetch.
 */
#ifndef NVDEBUG_RUN_READER_H
#define NVDEBUG_RUN_READER_H

#include "core/machine.h"
#include "decode/words.h"

struct nvdebug_run_reader {
	const struct nvdebug_runs *runs;
	u64 addr;	/* of the structure */
	u8 aperture;
	u32 run;	/* next one to read */
	u32 words;	/* requested so far */
	u32 *word;	/* buffer */
};

/* Make @want the request for @run of a structure. */
static inline void nvdebug_run_want(struct nvdebug_mem_request *want, u64 addr,
				    u8 aperture, struct nvdebug_words run,
				    u32 *word)
{
	*want = (struct nvdebug_mem_request) {
		.addr = addr + run.first * sizeof(u32),
		.aperture = aperture,
		.words = run.count,
		.buf = word,
	};
}

/* Make @want the next request. False if all was read. */
static inline bool nvdebug_run_next(struct nvdebug_run_reader *r,
				    struct nvdebug_mem_request *want)
{
	struct nvdebug_words run;

	if (r->run == NVDEBUG_RUNS || !r->runs->run[r->run].count)
		return false;
	run = r->runs->run[r->run++];
	nvdebug_run_want(want, r->addr, r->aperture, run, r->word + r->words);
	r->words += run.count;
	return true;
}

#endif
