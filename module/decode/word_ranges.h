/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A structure in memory of which only some words are read: ranges of
 * consecutive words, stored one after the other.
 */
#ifndef NVDEBUG_WORD_RANGES_H
#define NVDEBUG_WORD_RANGES_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NVDEBUG_WORD_RANGES	5

struct nvdebug_word_range {
	u16 first;
	u16 count;
};

/* The ranges, by rising number; a count of 0 ends them. */
struct nvdebug_word_ranges {
	struct nvdebug_word_range range[NVDEBUG_WORD_RANGES];
};

static inline size_t
nvdebug_ranges_words(const struct nvdebug_word_ranges *ranges)
{
	size_t i, words = 0;

	for (i = 0; i < NVDEBUG_WORD_RANGES; i++)
		words += ranges->range[i].count;
	return words;
}

/*
 * Return word @number of the structure, as stored in @word; 0 if no range has
 * it.
 */
static inline u32 nvdebug_ranges_word(const struct nvdebug_word_ranges *ranges,
				      const u32 *word, u32 number)
{
	const struct nvdebug_word_range *range = ranges->range;
	size_t i;

	for (i = 0; i < NVDEBUG_WORD_RANGES; i++) {
		if (number >= range[i].first &&
		    number - range[i].first < range[i].count)
			return word[number - range[i].first];
		word += range[i].count;
	}
	return 0;
}

#ifdef __cplusplus
}
#endif
#endif
