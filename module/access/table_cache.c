// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/kernel.h>
#include <linux/slab.h>

#include "access/table_cache.h"

/*
 * A chunk is the longest run read at once, and has the size of the smallest
 * table.
 */
#define CHUNK_WORDS	64
#define CHUNK_BYTES	(CHUNK_WORDS * sizeof(u32))
/* The cache has at most 9 MiB: about 4,000 address spaces. */
#define CHUNKS_MAX	32768

struct table_chunk {
	struct hlist_node node;
	u64 addr;
	u8 aperture;
	u64 has;	/* a bit for each cached word */
	u32 word[CHUNK_WORDS];
};

void nvdebug_table_cache_init(struct nvdebug_table_cache *cache)
{
	hash_init(cache->chunks);
	cache->count = 0;
}

void nvdebug_table_cache_free(struct nvdebug_table_cache *cache)
{
	struct hlist_node *next;
	struct table_chunk *chunk;
	int bucket;

	hash_for_each_safe(cache->chunks, bucket, next, chunk, node)
		kfree(chunk);
}

static struct table_chunk *chunk_find(const struct nvdebug_table_cache *cache,
				      u8 aperture, u64 addr)
{
	struct table_chunk *chunk;

	addr = round_down(addr, CHUNK_BYTES);
	hash_for_each_possible(cache->chunks, chunk, node, addr)
		if (chunk->addr == addr && chunk->aperture == aperture)
			return chunk;
	return NULL;
}

static struct table_chunk *chunk_find_or_add(struct nvdebug_table_cache *cache,
					     u8 aperture, u64 addr)
{
	struct table_chunk *chunk = chunk_find(cache, aperture, addr);

	if (chunk || cache->count == CHUNKS_MAX)
		return chunk;
	chunk = kzalloc(sizeof(*chunk), GFP_KERNEL_ACCOUNT);
	if (!chunk)
		return NULL;
	chunk->addr = round_down(addr, CHUNK_BYTES);
	chunk->aperture = aperture;
	hash_add(cache->chunks, &chunk->node, chunk->addr);
	cache->count++;
	return chunk;
}

static u32 chunk_word(u64 addr)
{
	return (addr & (CHUNK_BYTES - 1)) / sizeof(u32);
}

size_t nvdebug_table_cache_get(const struct nvdebug_table_cache *cache,
			       u8 aperture, u64 addr, u32 *buf, size_t words)
{
	size_t i;

	for (i = 0; i < words; i++, addr += sizeof(u32)) {
		const struct table_chunk *chunk =
			chunk_find(cache, aperture, addr);
		u32 word = chunk_word(addr);

		if (!chunk || !(chunk->has & BIT_ULL(word)))
			break;
		buf[i] = chunk->word[word];
	}
	return i;
}

void nvdebug_table_cache_put(struct nvdebug_table_cache *cache, u8 aperture,
			     u64 addr, const u32 *buf, size_t words)
{
	size_t i;

	for (i = 0; i < words; i++, addr += sizeof(u32)) {
		struct table_chunk *chunk =
			chunk_find_or_add(cache, aperture, addr);
		u32 word = chunk_word(addr);

		if (!chunk)
			return;
		chunk->word[word] = buf[i];
		chunk->has |= BIT_ULL(word);
	}
}

void nvdebug_table_cache_change(struct nvdebug_table_cache *cache, u8 aperture,
				u64 addr, u32 value)
{
	struct table_chunk *chunk = chunk_find(cache, aperture, addr);

	if (chunk)
		chunk->word[chunk_word(addr)] = value;
}
