// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/bitmap.h>
#include <linux/slab.h>

#include "chips/chips.h"
#include "core/gpu.h"
#include "core/runlist.h"
#include "decode/targets.h"
#include "state/resolve.h"
#include "state/runlist.h"

int nvdebug_resolver_init(struct nvdebug_resolver *r, struct nvdebug_gpu *gpu,
			  enum nvdebug_entry_kind kind)
{
	r->gpu = gpu;
	r->kind = kind;
	r->original = false;
	r->ids = kcalloc(gpu->topology.runlists + 1, sizeof(*r->ids),
			 GFP_KERNEL);
	return r->ids ? 0 : -ENOMEM;
}

void nvdebug_resolver_free(struct nvdebug_resolver *r)
{
	u32 i;

	for (i = 0; r->ids && i < r->gpu->topology.runlists; i++)
		bitmap_free(r->ids[i]);
	kfree(r->ids);
}

static int resolver_ids(struct nvdebug_resolver *r, u32 index,
			const unsigned long **ids)
{
	struct nvdebug_runlist *runlist = &r->gpu->topology.runlist[index];
	unsigned long **slot = &r->ids[index];
	u32 entries;
	int ret;

	if (!*slot) {
		*slot = bitmap_zalloc(NVDEBUG_CHANNEL_IDS, GFP_KERNEL);
		if (!*slot)
			return -ENOMEM;
		/* Most runlists are empty: then one read is enough. */
		ret = nvdebug_runlist_length(r->gpu, runlist, &entries);
		if (!ret && entries)
			ret = nvdebug_runlist_ids(r->gpu, runlist, r->kind,
						  r->original, *slot);
		if (ret) {
			bitmap_free(*slot);
			*slot = NULL;
			return ret;
		}
	}
	*ids = *slot;
	return 0;
}

static int check_id(u32 id, u32 ids)
{
	return id < ids ? 0 : -ERANGE;
}

/* Check that the id is possible in @runlist. */
static int check_possible(struct nvdebug_resolver *r,
			  struct nvdebug_runlist *runlist, u32 id)
{
	int ret;

	if (r->kind == NVDEBUG_ENTRY_TSG)
		return check_id(id, NVDEBUG_CHANNEL_IDS);
	ret = nvdebug_runlist_prepare(r->gpu, runlist);
	return ret ? ret : check_id(id, runlist->channels);
}

static int resolve_member(struct nvdebug_resolver *r,
			  const struct nvdebug_target *t,
			  struct nvdebug_runlist **found)
{
	struct nvdebug_runlist *runlist =
		nvdebug_runlist_find(&r->gpu->topology, t->runlist);
	const unsigned long *ids;
	int ret;

	if (!runlist)
		return -EINVAL;
	ret = check_possible(r, runlist, t->id);
	if (ret)
		return ret;
	ret = resolver_ids(r, runlist - r->gpu->topology.runlist, &ids);
	if (ret)
		return ret;
	*found = runlist;
	return test_bit(t->id, ids) ? 0 : -EINVAL;
}

static int resolve_by_search(struct nvdebug_resolver *r,
			     const struct nvdebug_target *t,
			     struct nvdebug_runlist **found)
{
	struct nvdebug_topology *topology = &r->gpu->topology;
	const unsigned long *ids;
	bool possible = false;
	u32 i;
	int ret;

	*found = NULL;
	for (i = 0; i < topology->runlists; i++) {
		struct nvdebug_runlist *runlist = &topology->runlist[i];

		ret = check_possible(r, runlist, t->id);
		if (ret == -ERANGE)
			continue;
		if (ret)
			return ret;
		possible = true;
		ret = resolver_ids(r, i, &ids);
		if (ret)
			return ret;
		if (!test_bit(t->id, ids))
			continue;
		if (*found)
			return -EINVAL;
		*found = runlist;
	}
	if (!possible)
		return -ERANGE;
	return *found ? 0 : -EINVAL;
}

int nvdebug_resolve_listed(struct nvdebug_resolver *r,
			   const struct nvdebug_target *t,
			   struct nvdebug_runlist **found)
{
	return t->has_runlist ? resolve_member(r, t, found) :
				resolve_by_search(r, t, found);
}

/* Resolve "RUNLIST:ID" where ids are per runlist, which is unambiguous. */
static int resolve_local(struct nvdebug_resolver *r,
			 const struct nvdebug_target *t,
			 struct nvdebug_runlist **found)
{
	*found = nvdebug_runlist_find(&r->gpu->topology, t->runlist);
	return *found ? check_possible(r, *found, t->id) : -EINVAL;
}

int nvdebug_resolve_channel(struct nvdebug_resolver *r,
			    const struct nvdebug_target *t,
			    struct nvdebug_runlist **found)
{
	int ret;

	if (r->gpu->chip->channel->per_runlist)
		return t->has_runlist ? resolve_local(r, t, found) :
					resolve_by_search(r, t, found);

	ret = t->has_runlist ? resolve_member(r, t, found) :
			       check_id(t->id, r->gpu->topology.channels);
	*found = NULL;
	return ret;
}
