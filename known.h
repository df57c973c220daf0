/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Words of page tables that a session has read.
 */
#ifndef NVDEBUG_KNOWN_H
#define NVDEBUG_KNOWN_H

#include <linux/hashtable.h>
#include <linux/types.h>

#define NVDEBUG_KNOWN_BITS	8

struct nvdebug_known {
	DECLARE_HASHTABLE(chunks, NVDEBUG_KNOWN_BITS);
	size_t count;
};

void nvdebug_known_init(struct nvdebug_known *known);
void nvdebug_known_free(struct nvdebug_known *known);

/* The words from @addr on that are known: how many of @words. */
size_t nvdebug_known_get(const struct nvdebug_known *known, u8 aperture,
			 u64 addr, u32 *buf, size_t words);
/* What cannot be kept is forgotten. */
void nvdebug_known_put(struct nvdebug_known *known, u8 aperture, u64 addr,
		       const u32 *buf, size_t words);
/* The word was changed: as nvdebug_known_put(), where it is known at all. */
void nvdebug_known_change(struct nvdebug_known *known, u8 aperture, u64 addr,
			  u32 value);

#endif
