/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Keeps where BARs map video memory: a session adds the mappings that it finds
 * in their page tables, and later sessions start with these.
 */
#ifndef NVDEBUG_BAR_FINDS_H
#define NVDEBUG_BAR_FINDS_H

#include <linux/types.h>

struct nvdebug_bar_finds;
struct nvdebug_mmu_leaf;

#define NVDEBUG_SCANNED_BARS	2	/* BAR2, BAR1 */

/* @driver_changes is the device's present count. NULL: no memory. */
struct nvdebug_bar_finds *nvdebug_bar_finds_alloc(u32 driver_changes);
void nvdebug_bar_finds_free(struct nvdebug_bar_finds *finds);
/*
 * Return whether the driver is still the same one: the page tables are its own.
 */
bool nvdebug_bar_finds_are_current(const struct nvdebug_bar_finds *finds,
				   u32 driver_changes);
/* End the session. Returns false if there are too many extents to keep. */
bool nvdebug_bar_finds_end_session(struct nvdebug_bar_finds *finds);

/* Add a leaf of page tables. Returns true if this session had not found it. */
bool nvdebug_bar_finds_add(struct nvdebug_bar_finds *finds, int bar,
			   const struct nvdebug_mmu_leaf *leaf);
/* Forget that the page of @addr is at @offset in the BAR. */
void nvdebug_bar_finds_forget(struct nvdebug_bar_finds *finds, int bar,
			      u64 addr, u64 offset);
/*
 * Set @offset to the offset of @addr in the BAR. Returns false if it was not
 * found so far or, with @of_session, not by this session.
 */
bool nvdebug_bar_finds_look_up(struct nvdebug_bar_finds *finds, int bar,
			       u64 addr, bool of_session, u64 *offset);

#endif
