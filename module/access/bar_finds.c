// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Keeps where BARs map video memory, as their page tables show. A driver may
 * remove a mapping at any time, so every find is a hint.
 */
#include <linux/interval_tree_generic.h>
#include <linux/kernel.h>
#include <linux/rbtree.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "access/bar_finds.h"
#include "decode/mmu.h"

/* Extents that are kept for the next session. */
#define FINDS_MAX	8192

/* A range that is contiguous in both video memory and the BAR. */
struct extent {
	struct rb_node rb;
	u64 first;	/* in video memory */
	u64 last;
	u64 last_below;	/* interval tree: subtree's last */
	u64 offset;	/* offset of first in the BAR */
	u32 session;	/* number of the session that found it */
};

#define EXTENT_FIRST(e)	((e)->first)
#define EXTENT_LAST(e)	((e)->last)

INTERVAL_TREE_DEFINE(struct extent, rb, u64, last_below, EXTENT_FIRST,
		     EXTENT_LAST, static inline, extent)

/* The extents of both BARs. */
struct nvdebug_bar_finds {
	struct rb_root_cached found[NVDEBUG_SCANNED_BARS];
	struct extent *last[NVDEBUG_SCANNED_BARS];	/* most recent of the session */
	u32 count;
	u32 session;	/* number of the current one */
	/* The device's count at the time of the finds. */
	u32 driver_changes;
};

struct nvdebug_bar_finds *nvdebug_bar_finds_alloc(u32 driver_changes)
{
	struct nvdebug_bar_finds *finds = kzalloc(sizeof(*finds), GFP_KERNEL);
	int i;

	if (!finds)
		return NULL;
	for (i = 0; i < NVDEBUG_SCANNED_BARS; i++)
		finds->found[i] = RB_ROOT_CACHED;
	finds->driver_changes = driver_changes;
	return finds;
}

void nvdebug_bar_finds_free(struct nvdebug_bar_finds *finds)
{
	struct extent *e, *next;
	int i;

	for (i = 0; finds && i < NVDEBUG_SCANNED_BARS; i++)
		rbtree_postorder_for_each_entry_safe(e, next,
						     &finds->found[i].rb_root,
						     rb)
			kfree(e);
	kfree(finds);
}

bool nvdebug_bar_finds_are_current(const struct nvdebug_bar_finds *finds,
				   u32 driver_changes)
{
	return finds->driver_changes == driver_changes;
}

bool nvdebug_bar_finds_end_session(struct nvdebug_bar_finds *finds)
{
	int i;

	finds->session++;
	for (i = 0; i < NVDEBUG_SCANNED_BARS; i++)
		finds->last[i] = NULL;
	return finds->count <= FINDS_MAX;
}

static void extent_free(struct nvdebug_bar_finds *finds, int bar,
			struct extent *e)
{
	extent_remove(e, &finds->found[bar]);
	if (finds->last[bar] == e)
		finds->last[bar] = NULL;
	finds->count--;
	kfree(e);
}

static struct extent *extent_add(struct nvdebug_bar_finds *finds, int bar,
				 u64 first, u64 last, u64 offset, u32 session)
{
	struct extent *e = kzalloc(sizeof(*e), GFP_KERNEL_ACCOUNT);

	if (!e)
		return NULL;
	e->first = first;
	e->last = last;
	e->offset = offset;
	e->session = session;
	extent_insert(e, &finds->found[bar]);
	finds->count++;
	return e;
}

bool nvdebug_bar_finds_add(struct nvdebug_bar_finds *finds, int bar,
			   const struct nvdebug_mmu_leaf *leaf)
{
	struct rb_root_cached *found = &finds->found[bar];
	u64 last = leaf->addr + leaf->size - 1;
	struct extent *e, *next;

	for (e = extent_iter_first(found, leaf->addr, last); e; e = next) {
		next = extent_iter_next(e, leaf->addr, last);
		if (e->session != finds->session)
			extent_free(finds, bar, e);
		else if (leaf->addr >= e->first && last <= e->last)
			return false;
	}

	e = finds->last[bar];
	if (e && leaf->addr == e->last + 1 &&
	    leaf->va == e->offset + (leaf->addr - e->first)) {
		extent_remove(e, found);
		e->last = last;
		extent_insert(e, found);
		return true;
	}
	e = extent_add(finds, bar, leaf->addr, last, leaf->va, finds->session);
	if (e)
		finds->last[bar] = e;
	return e;
}

/* Cut the range from @first to @last out of @e. */
static void extent_cut(struct nvdebug_bar_finds *finds, int bar,
		       struct extent *e, u64 first, u64 last)
{
	const struct extent was = *e;

	extent_free(finds, bar, e);
	if (was.first < first)
		extent_add(finds, bar, was.first, first - 1, was.offset,
			   was.session);
	if (was.last > last)
		extent_add(finds, bar, last + 1, was.last,
			   was.offset + (last + 1 - was.first), was.session);
}

void nvdebug_bar_finds_forget(struct nvdebug_bar_finds *finds, int bar,
			      u64 addr, u64 offset)
{
	struct rb_root_cached *found = &finds->found[bar];
	u64 first = round_down(addr, SZ_4K);
	struct extent *e, *next;

	for (e = extent_iter_first(found, addr, addr); e; e = next) {
		next = extent_iter_next(e, addr, addr);
		if (e->offset + (addr - e->first) == offset)
			extent_cut(finds, bar, e, first, first + SZ_4K - 1);
	}
}

bool nvdebug_bar_finds_look_up(struct nvdebug_bar_finds *finds, int bar,
			       u64 addr, bool of_session, u64 *offset)
{
	struct extent *e = extent_iter_first(&finds->found[bar], addr, addr);

	while (e && of_session && e->session != finds->session)
		e = extent_iter_next(e, addr, addr);
	if (e)
		*offset = e->offset + (addr - e->first);
	return e;
}
