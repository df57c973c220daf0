/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Interned objects are found by key, and shared by all users of equal objects.
 */
#ifndef NVDEBUG_INTERN_H
#define NVDEBUG_INTERN_H

#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/types.h>

#define NVDEBUG_INTERN_BITS	10

struct nvdebug_intern {
	DECLARE_HASHTABLE(bucket, NVDEBUG_INTERN_BITS);
	struct list_head all;	/* in order of creation */
	u32 count;
};

/*
 * The first member of every interned object. The key is stored after the
 * object.
 */
struct nvdebug_interned {
	struct hlist_node node;
	struct list_head all;
	const void *key;
	u32 key_size;
	u32 first;	/* see nvdebug_interned_claim() */
};

#define NVDEBUG_UNCLAIMED	U32_MAX

void nvdebug_intern_init(struct nvdebug_intern *set);
void nvdebug_intern_free(struct nvdebug_intern *set);

/*
 * Find the object with the @key_size bytes of @key (including padding), or
 * allocate one of @size bytes, zeroed. NULL: out of memory.
 */
void *nvdebug_intern(struct nvdebug_intern *set, size_t size, const void *key,
		     size_t key_size);

/*
 * Return whether @user is the first that refers to the object. Called in the
 * order of printing.
 */
static inline bool nvdebug_interned_claim(struct nvdebug_interned *object,
					  u32 user)
{
	if (object->first == NVDEBUG_UNCLAIMED)
		object->first = user;
	return object->first == user;
}

#endif
