/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Page table words read in a session.
 */
#ifndef NVDEBUG_TABLE_CACHE_H
#define NVDEBUG_TABLE_CACHE_H

#include <linux/hashtable.h>
#include <linux/types.h>

#define NVDEBUG_TABLE_CACHE_BITS	8

struct nvdebug_table_cache {
	DECLARE_HASHTABLE(chunks, NVDEBUG_TABLE_CACHE_BITS);
	size_t count;
};

void nvdebug_table_cache_init(struct nvdebug_table_cache *cache);
void nvdebug_table_cache_free(struct nvdebug_table_cache *cache);

/* Copy cached words from @addr on. Returns how many, up to @words. */
size_t nvdebug_table_cache_get(const struct nvdebug_table_cache *cache,
			       u8 aperture, u64 addr, u32 *buf, size_t words);
/* Cache words of a table. Without memory nothing is cached. */
void nvdebug_table_cache_put(struct nvdebug_table_cache *cache, u8 aperture,
			     u64 addr, const u32 *buf, size_t words);
/* Update a word, if it is cached. */
void nvdebug_table_cache_change(struct nvdebug_table_cache *cache, u8 aperture,
				u64 addr, u32 value);

#endif
