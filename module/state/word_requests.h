/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Memory requests for the word ranges of a structure.
 */
#ifndef NVDEBUG_WORD_REQUESTS_H
#define NVDEBUG_WORD_REQUESTS_H

#include "core/machine.h"
#include "decode/word_ranges.h"

/* Request @range of the structure at @addr: set @want and add it to @wanted. */
static inline void nvdebug_range_request(struct nvdebug_mem_request *want,
					 u64 addr, u8 aperture,
					 struct nvdebug_word_range range,
					 u32 *word, struct list_head *wanted)
{
	*want = (struct nvdebug_mem_request) {
		.addr = addr + range.first * sizeof(u32),
		.aperture = aperture,
		.words = range.count,
		.buf = word,
	};
	list_add_tail(&want->node, wanted);
}

/* Request all ranges, to be stored in @word one after the other. */
static inline void
nvdebug_ranges_request(struct nvdebug_mem_request *want, u64 addr, u8 aperture,
		       const struct nvdebug_word_ranges *ranges, u32 *word,
		       struct list_head *wanted)
{
	u32 i;

	for (i = 0; i < NVDEBUG_WORD_RANGES && ranges->range[i].count; i++) {
		nvdebug_range_request(&want[i], addr, aperture,
				      ranges->range[i], word, wanted);
		word += ranges->range[i].count;
	}
}

/*
 * Return the error of the first of NVDEBUG_WORD_RANGES requests that failed, or
 * 0.
 */
static inline int nvdebug_ranges_error(const struct nvdebug_mem_request *want)
{
	u32 i = 0;

	while (i < NVDEBUG_WORD_RANGES - 1 && !want[i].error)
		i++;
	return want[i].error;
}

#endif
