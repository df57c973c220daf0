/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Things that many refer to and that are kept once: found by what they are,
 * their key.
 */
#ifndef NVDEBUG_INTERN_H
#define NVDEBUG_INTERN_H

#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/types.h>

#define NVDEBUG_INTERN_BITS	10

struct nvdebug_intern {
	DECLARE_HASHTABLE(bucket, NVDEBUG_INTERN_BITS);
	struct list_head all;	/* in the order in which they came */
	u32 count;
};

/* The first member of every such thing. The key lies behind the whole thing. */
struct nvdebug_interned {
	struct hlist_node node;
	struct list_head all;
	const void *key;
	u32 key_size;
	u32 first;	/* for the user: the first that refers to it */
};

#define NVDEBUG_NOBODY	U32_MAX

void nvdebug_intern_init(struct nvdebug_intern *set);
void nvdebug_intern_free(struct nvdebug_intern *set);

/*
 * The thing whose key is the @key_size bytes of @key, padding included. If
 * there is none yet, one of @size bytes is made, zeroed. NULL: out of memory.
 */
void *nvdebug_intern(struct nvdebug_intern *set, size_t size, const void *key,
		     size_t key_size);

/* @who refers to it. Is that the first? To be asked in the order of printing. */
static inline bool nvdebug_interned_claim(struct nvdebug_interned *thing,
					  u32 who)
{
	if (thing->first == NVDEBUG_NOBODY)
		thing->first = who;
	return thing->first == who;
}

#endif
