/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A structure in memory of which only some words are read: runs of consecutive
 * words, stored one after the other.
 */
#ifndef NVDEBUG_DECODE_WORDS_H
#define NVDEBUG_DECODE_WORDS_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NVDEBUG_RUNS	5

struct nvdebug_words {
	u16 first;
	u16 count;
};

/* By rising number; a count of 0 ends them. */
struct nvdebug_runs {
	struct nvdebug_words run[NVDEBUG_RUNS];
};

static inline size_t nvdebug_runs_words(const struct nvdebug_runs *runs)
{
	size_t i, words = 0;

	for (i = 0; i < NVDEBUG_RUNS; i++)
		words += runs->run[i].count;
	return words;
}

/* Word @number of the structure, as stored in @word; 0 if in no run. */
static inline u32 nvdebug_runs_word(const struct nvdebug_runs *runs,
				    const u32 *word, u32 number)
{
	const struct nvdebug_words *run = runs->run;
	size_t i;

	for (i = 0; i < NVDEBUG_RUNS; i++) {
		if (number >= run[i].first &&
		    number - run[i].first < run[i].count)
			return word[number - run[i].first];
		word += run[i].count;
	}
	return 0;
}

#ifdef __cplusplus
}
#endif
#endif
