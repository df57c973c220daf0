/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Words of page tables that a session has read.
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

/* The words from @addr on that are known: how many of @words. */
size_t nvdebug_table_cache_get(const struct nvdebug_table_cache *cache,
			       u8 aperture, u64 addr, u32 *buf, size_t words);
/* What cannot be kept is forgotten. */
void nvdebug_table_cache_put(struct nvdebug_table_cache *cache, u8 aperture,
			     u64 addr, const u32 *buf, size_t words);
/* The word was changed: so is what is known of it, if anything is. */
void nvdebug_table_cache_change(struct nvdebug_table_cache *cache, u8 aperture,
				u64 addr, u32 value);

#endif
