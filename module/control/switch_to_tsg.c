// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * The control switch_to_tsg replaces the driver's list by an override list with
 * the entries of one TSG only.
 */
#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "chips/chips.h"
#include "control/controls.h"
#include "control/report.h"
#include "core/control.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "decode/runlist.h"
#include "decode/targets.h"
#include "host/override_list.h"
#include "host/submit.h"
#include "state/occupancy.h"
#include "state/override.h"
#include "state/resolve.h"
#include "state/runlist.h"

struct switch_request {
	struct nvdebug_gpu *gpu;
	struct nvdebug_runlist *runlist;
	u32 tsg;
	struct nvdebug_runlist_copy copy;	/* the driver's list */
	u32 first;	/* number of the entry with the TSG's header */
	u32 entries;	/* entries of the TSG, with the header */
	/*
	 * Ids of the other TSGs in the list, and of channels outside of TSGs.
	 */
	unsigned long *tsgs;
	unsigned long *channels;
	u64 list;	/* number of the override list */
};

/* Undo record of a lease. */
struct switch_lease {
	struct nvdebug_undo undo;
	struct nvdebug_runlist *runlist;
	u64 list;
};

static int switch_decode_entry(const struct switch_request *req, u32 at,
			       struct nvdebug_entry *entry)
{
	const struct nvdebug_runlist_ops *ops = req->gpu->chip->runlist;

	return ops->decode(req->copy.words + at * ops->entry_words,
			   ops->entry_words, entry);
}

/* Return how many channels follow the header at @at. */
static u32 switch_count_members(const struct switch_request *req, u32 at,
				u32 length)
{
	struct nvdebug_entry entry;
	u32 n;

	for (n = 0; n < length && at + n + 1 < req->copy.loc.entries; n++)
		if (switch_decode_entry(req, at + n + 1, &entry) ||
		    entry.kind != NVDEBUG_ENTRY_CHANNEL)
			break;
	return n;
}

/*
 * Find the entries of the TSG, which must be complete, and the ids of all
 * others in the list. If the TSG is listed several times, the first one is
 * used.
 */
static int switch_find_tsg(struct switch_request *req)
{
	struct nvdebug_entry entry;
	u32 i, n;
	int ret;

	for (i = 0; i < req->copy.loc.entries; i++) {
		ret = switch_decode_entry(req, i, &entry);
		if (ret)
			return ret;
		if (entry.kind == NVDEBUG_ENTRY_CHANNEL)
			__set_bit(entry.id, req->channels);
		if (entry.kind != NVDEBUG_ENTRY_TSG)
			continue;

		n = switch_count_members(req, i, entry.length);
		if (entry.id != req->tsg) {
			__set_bit(entry.id, req->tsgs);
		} else if (!req->entries) {
			if (!n || n < entry.length)
				return -EINVAL;
			req->first = i;
			req->entries = n + 1;
		}
		i += n;
	}
	return req->entries ? 0 : -EINVAL;
}

static int switch_read_list(struct switch_request *req)
{
	struct nvdebug_gpu *gpu = req->gpu;
	struct nvdebug_mem *mem;
	int ret;

	mem = nvdebug_mem_begin(gpu);
	if (IS_ERR(mem))
		return PTR_ERR(mem);
	ret = nvdebug_runlist_copy_original(gpu, mem, req->runlist, &req->copy);
	nvdebug_mem_end(mem);
	if (!ret && req->copy.torn)
		ret = -EBUSY;
	else if (!ret && !req->copy.words)
		ret = -EIO;
	return ret ? ret : switch_find_tsg(req);
}

static bool switch_matches_other(const void *data, bool is_tsg, u32 id)
{
	const struct switch_request *req = data;

	return id < NVDEBUG_CHANNEL_IDS &&
	       test_bit(id, is_tsg ? req->tsgs : req->channels);
}

static int switch_is_complete(struct nvdebug_gpu *gpu, const void *what)
{
	const struct switch_request *req = what;
	int ret = nvdebug_runlist_occupied(gpu, req->runlist,
					   switch_matches_other, req);

	return ret < 0 ? ret : !ret;
}

static int switch_install(struct switch_request *req)
{
	struct nvdebug_gpu *gpu = req->gpu;
	struct nvdebug_runlist_location now, original;
	struct nvdebug_override *list;
	const u32 *words;
	int ret;

	lockdep_assert_held(&gpu->lock);
	ret = nvdebug_submit_settle(gpu, req->runlist, &now);
	if (ret)
		return ret;
	original = now;
	nvdebug_override_original(gpu, req->runlist, &original);
	if (!nvdebug_runlist_location_same(&original, &req->copy.loc))
		return -EBUSY;

	words = req->copy.words + req->first * gpu->chip->runlist->entry_words;
	list = nvdebug_override_make(gpu, req->runlist, words, req->entries);
	if (IS_ERR(list))
		return PTR_ERR(list);
	req->list = list->number;
	return nvdebug_override_install(gpu, list, &now, switch_is_complete,
					req);
}

static int switch_resolve(struct switch_request *req,
			  const struct nvdebug_target *target)
{
	struct nvdebug_resolver resolver;
	int ret;

	ret = nvdebug_resolver_init(&resolver, req->gpu, NVDEBUG_ENTRY_TSG);
	if (!ret) {
		/*
		 * Look in the driver's list: an override list has no other
		 * TSGs.
		 */
		resolver.original = true;
		ret = nvdebug_resolve_listed(&resolver, target, &req->runlist);
	}
	nvdebug_resolver_free(&resolver);
	return ret;
}

static int switch_apply(struct switch_request *req,
			const struct nvdebug_target *target)
{
	struct nvdebug_gpu *gpu = req->gpu;
	int ret;

	ret = switch_resolve(req, target);
	if (!ret)
		ret = switch_read_list(req);
	if (ret)
		return ret;
	if (mutex_lock_killable(&gpu->lock))
		return -EINTR;
	ret = switch_install(req);
	mutex_unlock(&gpu->lock);
	return ret;
}

static int switch_run(struct switch_request *req, const char *text, size_t len)
{
	struct nvdebug_cursor cur = { text, text + len };
	struct nvdebug_gpu *gpu = req->gpu;
	struct nvdebug_target target;
	struct nvdebug_report report;
	int ret;

	nvdebug_cursor_more(&cur);
	ret = nvdebug_cursor_target(&cur, &target);
	if (ret)
		return ret;
	if (nvdebug_cursor_more(&cur))
		return -EINVAL;
	req->tsg = target.id;

	req->tsgs = bitmap_zalloc(NVDEBUG_CHANNEL_IDS, GFP_KERNEL);
	req->channels = bitmap_zalloc(NVDEBUG_CHANNEL_IDS, GFP_KERNEL);
	if (!req->tsgs || !req->channels)
		return -ENOMEM;
	ret = nvdebug_gpu_begin(gpu);
	if (ret)
		return ret;
	ret = switch_apply(req, &target);
	nvdebug_gpu_end(gpu);
	if (ret)
		return ret;

	nvdebug_report_begin(&report);
	nvdebug_report_item(&report, "%u:%u", req->runlist->id, req->tsg);
	nvdebug_report_end(&report, gpu, "switched to", "TSG");
	return 0;
}

static void switch_lease_over(struct nvdebug_gpu *gpu,
			      struct nvdebug_undo *undo)
{
	const struct switch_lease *lease =
		container_of(undo, struct switch_lease, undo);
	struct nvdebug_report report;
	int ret;

	mutex_lock(&gpu->lock);
	ret = nvdebug_override_undo(gpu, lease->list);
	mutex_unlock(&gpu->lock);
	if (ret < 0)
		nvdebug_err_ratelimit(gpu,
				      "runlist %u may still be one TSG's alone (%d)\n",
				      lease->runlist->id, ret);
	nvdebug_report_begin(&report);
	if (ret > 0)
		nvdebug_report_item(&report, "%u", lease->runlist->id);
	nvdebug_report_end(&report, gpu, "lease over: resubmitted", "runlist");
}

static int switch_to_tsg(struct nvdebug_gpu *gpu, const char *text, size_t len,
			 struct seq_buf *answer, struct nvdebug_undo **undo)
{
	struct switch_request req = { .gpu = gpu };
	struct switch_lease *lease = NULL;
	int ret = 0;

	if (undo) {
		lease = kzalloc(sizeof(*lease), GFP_KERNEL_ACCOUNT);
		ret = lease ? 0 : -ENOMEM;
	}
	if (!ret)
		ret = switch_run(&req, text, len);
	if (!ret && lease) {
		lease->undo.run = switch_lease_over;
		lease->runlist = req.runlist;
		lease->list = req.list;
		*undo = &lease->undo;
	} else {
		kfree(lease);
	}
	kvfree(req.copy.words);
	bitmap_free(req.channels);
	bitmap_free(req.tsgs);
	return ret;
}

const struct nvdebug_control nvdebug_switch_to_tsg_control = {
	.text_max = NVDEBUG_TARGETS_TEXT_MAX,
	.changes = true,
	.leases = true,
	.act = switch_to_tsg,
};
