/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Where BARs map video memory: what a session finds in their page tables, and
 * keeps for later ones.
 */
#ifndef NVDEBUG_BAR_FINDS_H
#define NVDEBUG_BAR_FINDS_H

#include <linux/types.h>

struct nvdebug_bar_finds;
struct nvdebug_mmu_leaf;

#define NVDEBUG_SCANNED_BARS	2	/* BAR2, BAR1 */

/* @driver_changes: of the device now. NULL without memory. */
struct nvdebug_bar_finds *nvdebug_bar_finds_alloc(u32 driver_changes);
void nvdebug_bar_finds_free(struct nvdebug_bar_finds *finds);
/* Page tables of BARs are the driver's: was it the same one? */
bool nvdebug_bar_finds_are_current(const struct nvdebug_bar_finds *finds,
				   u32 driver_changes);
/* Returns false if they are too many to be kept for the next session. */
bool nvdebug_bar_finds_end_session(struct nvdebug_bar_finds *finds);

/* Add a leaf of page tables. Returns true if this session had not found it. */
bool nvdebug_bar_finds_add(struct nvdebug_bar_finds *finds, int bar,
			   const struct nvdebug_mmu_leaf *leaf);
/* Forget that the page of @addr is at @offset in the BAR. */
void nvdebug_bar_finds_forget(struct nvdebug_bar_finds *finds, int bar,
			      u64 addr, u64 offset);
/* Offset of @addr in the BAR, as found so far, or only by this session. */
bool nvdebug_bar_finds_look_up(struct nvdebug_bar_finds *finds, int bar,
			       u64 addr, bool of_session, u64 *offset);

#endif
