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
	struct nvdebug_interned *object, *next;

	list_for_each_entry_safe(object, next, &set->all, all)
		kvfree(object);
	nvdebug_intern_init(set);
}

void *nvdebug_intern(struct nvdebug_intern *set, size_t size, const void *key,
		     size_t key_size)
{
	u32 hash = jhash(key, key_size, 0);
	struct nvdebug_interned *object;
	void *copy;

	hash_for_each_possible(set->bucket, object, node, hash)
		if (object->key_size == key_size &&
		    !memcmp(object->key, key, key_size))
			return object;

	size = ALIGN(size, sizeof(u64));
	object = kvzalloc(size + key_size, GFP_KERNEL_ACCOUNT);
	if (!object)
		return NULL;
	copy = (void *)object + size;
	memcpy(copy, key, key_size);
	object->key = copy;
	object->key_size = key_size;
	object->first = NVDEBUG_UNCLAIMED;
	hash_add(set->bucket, &object->node, hash);
	list_add_tail(&object->all, &set->all);
	set->count++;
	return object;
}
