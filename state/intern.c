// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/jhash.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "state/intern.h"

void nvdebug_intern_init(struct nvdebug_intern *set)
{
	hash_init(set->bucket);
	INIT_LIST_HEAD(&set->all);
	set->count = 0;
}

void nvdebug_intern_free(struct nvdebug_intern *set)
{
	struct nvdebug_interned *thing, *next;

	list_for_each_entry_safe(thing, next, &set->all, all)
		kvfree(thing);
	nvdebug_intern_init(set);
}

void *nvdebug_intern(struct nvdebug_intern *set, size_t size, const void *key,
		     size_t key_size)
{
	u32 hash = jhash(key, key_size, 0);
	struct nvdebug_interned *thing;
	void *copy;

	hash_for_each_possible(set->bucket, thing, node, hash)
		if (thing->key_size == key_size &&
		    !memcmp(thing->key, key, key_size))
			return thing;

	size = ALIGN(size, sizeof(u64));
	thing = kvzalloc(size + key_size, GFP_KERNEL_ACCOUNT);
	if (!thing)
		return NULL;
	copy = (void *)thing + size;
	memcpy(copy, key, key_size);
	thing->key = copy;
	thing->key_size = key_size;
	thing->first = NVDEBUG_NOBODY;
	hash_add(set->bucket, &thing->node, hash);
	list_add_tail(&thing->all, &set->all);
	set->count++;
	return thing;
}
