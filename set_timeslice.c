// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Timeslices: written into the headers of the list in memory, which is then
 * submitted again from where it is.
 */
#define dev_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/pci.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>

#include "chips/chips.h"
#include "decode/targets.h"
#include "decode/timeslice.h"
#include "gpu.h"
#include "hw/ram.h"
#include "memory.h"
#include "nvdebug_trace.h"
#include "proc.h"
#include "report.h"
#include "resolve.h"
#include "runlist_copy.h"
#include "submit.h"
#include "tsg_control.h"

/* Word 0 of a header of the TSG, which may be listed several times. */
struct header {
	u64 addr;
	u32 old;
	u32 new;
};

struct request {
	struct nvdebug_gpu *gpu;
	struct nvdebug_mem *mem;
	struct nvdebug_target target;
	u64 asked_ns;
	u8 timeout;	/* what asked_ns comes to */
	u8 scale;

	struct nvdebug_runlist *runlist;
	struct nvdebug_runlist_copy copy;
	struct header *header;
	u32 headers;
	u32 written;	/* of them, from the first on */
	bool submitted;
	u64 old_ns;	/* of the first header */
};

static int parse(struct request *req, const char *text, size_t len)
{
	struct nvdebug_cursor cur = { text, text + len };
	int ret;

	nvdebug_cursor_more(&cur);
	ret = nvdebug_cursor_target(&cur, &req->target);
	if (ret)
		return ret;
	nvdebug_cursor_more(&cur);
	ret = nvdebug_cursor_microseconds(&cur, &req->asked_ns);
	if (ret)
		return ret;
	if (nvdebug_cursor_more(&cur))
		return -EINVAL;
	return nvdebug_timeslice_encode(req->asked_ns, &req->timeout,
					&req->scale);
}

static int resolve(struct request *req)
{
	struct nvdebug_resolver resolver;
	int ret;

	ret = nvdebug_resolver_init(&resolver, req->gpu, NVDEBUG_ENTRY_TSG);
	if (!ret)
		ret = nvdebug_resolve_listed(&resolver, &req->target,
					     &req->runlist);
	nvdebug_resolver_free(&resolver);
	return ret;
}

/* Find the headers in the copy of the list. */
static int find_headers(struct request *req)
{
	const struct nvdebug_runlist_ops *ops = req->gpu->chip->runlist;
	struct nvdebug_entry entry;
	struct header *header;
	const u32 *word;
	u32 i;
	int ret;

	req->header = kvcalloc(req->copy.loc.entries, sizeof(*req->header),
			       GFP_KERNEL_ACCOUNT);
	if (!req->header)
		return -ENOMEM;
	for (i = 0; i < req->copy.loc.entries; i++) {
		word = req->copy.words + i * ops->entry_words;
		ret = ops->decode(word, ops->entry_words, &entry);
		if (ret)
			return ret;
		if (entry.kind != NVDEBUG_ENTRY_TSG ||
		    entry.id != req->target.id)
			continue;
		if (!req->headers)
			req->old_ns = nvdebug_timeslice_ns(entry.timeout,
							   entry.scale);
		header = &req->header[req->headers++];
		header->addr = req->copy.loc.addr +
			       (u64)i * ops->entry_words * sizeof(u32);
		header->old = word[0];
		header->new = ops->set_timeslice(word[0], req->timeout,
						 req->scale);
	}
	return req->headers ? 0 : -EINVAL;
}

static int read_list(struct request *req)
{
	int ret;

	ret = nvdebug_runlist_copy(req->gpu, req->mem, req->runlist, false,
				   &req->copy);
	if (!ret && req->copy.torn)
		ret = -EBUSY;
	else if (!ret && !req->copy.words)
		ret = -EIO;
	return ret ? ret : find_headers(req);
}

static int read_word(struct request *req, const struct header *header,
		     u32 *value)
{
	struct nvdebug_mem_request want = {
		.addr = header->addr,
		.aperture = req->copy.loc.aperture,
		.words = 1,
		.buf = value,
	};

	return nvdebug_mem_read(req->mem, &want);
}

static int write_word(struct request *req, const struct header *header,
		      u32 value, u32 *old)
{
	int ret;

	ret = nvdebug_mem_write(req->mem, req->copy.loc.aperture, header->addr,
				value, old);
	if (!ret)
		trace_timeslice(&req->gpu->pdev->dev, req->runlist->id,
				req->target.id, header->addr, *old, value);
	return ret;
}

static int write_all(struct request *req)
{
	u32 i, old, expected;
	int ret;

	for (i = 0; i < req->headers; i++) {
		/* with this one: a write that failed may have had an effect */
		req->written = i + 1;
		ret = write_word(req, &req->header[i], req->header[i].new,
				 &old);
		if (ret)
			return ret;
		expected = req->header[i].old;
		req->header[i].old = old;
		if (old != expected)
			return -EBUSY;
	}
	return 0;
}

/* Is the list that was read still the one in force? */
static int still_there(struct request *req)
{
	struct nvdebug_gpu *gpu = req->gpu;
	struct nvdebug_runlist_location now;
	int ret;

	lockdep_assert_held(&gpu->lock);
	ret = gpu->chip->runlist->location(gpu, req->runlist, &now);
	if (ret)
		return ret;
	return nvdebug_runlist_location_same(&now, &req->copy.loc) ? 0 : -EBUSY;
}

/*
 * A list in system memory may be the module's own, which goes when another is
 * submitted: not while the lock is held. Words of video memory take the lock
 * themselves.
 */
static bool may_be_our_own(const struct request *req)
{
	return req->copy.loc.aperture != NV_APERTURE_VID;
}

static int write_headers(struct request *req)
{
	int ret;

	if (!may_be_our_own(req))
		return write_all(req);
	if (mutex_lock_killable(&req->gpu->lock))
		return -EINTR;
	ret = still_there(req);
	if (!ret)
		ret = write_all(req);
	mutex_unlock(&req->gpu->lock);
	return ret;
}

/* Submit the list from where it is, unless it is not there any more. */
static int submit(struct request *req)
{
	struct nvdebug_gpu *gpu = req->gpu;
	struct nvdebug_runlist_location now;
	int ret;

	lockdep_assert_held(&gpu->lock);
	ret = nvdebug_submit_settle(gpu, req->runlist, &now);
	if (!ret && !nvdebug_runlist_location_same(&now, &req->copy.loc))
		ret = -EBUSY;
	if (ret)
		return ret;
	req->submitted = true;
	ret = nvdebug_submit(gpu, req->runlist, &now);
	return ret ? ret : nvdebug_submit_settle(gpu, req->runlist, &now);
}

/* The same with the old words back, whatever happens meanwhile. */
static int submit_undo(struct request *req)
{
	struct nvdebug_gpu *gpu = req->gpu;
	struct nvdebug_runlist_location now;
	int ret;

	lockdep_assert_held(&gpu->lock);
	ret = nvdebug_submit_settle_undo(gpu, req->runlist, &now);
	/* a list that the driver submitted has none of our words */
	if (ret || !nvdebug_runlist_location_same(&now, &req->copy.loc))
		return ret;
	ret = nvdebug_submit(gpu, req->runlist, &now);
	return ret ? ret : nvdebug_submit_settle_undo(gpu, req->runlist, &now);
}

/* Has the driver left the headers as they were written? */
static int verify(struct request *req)
{
	u32 i, value;
	int ret;

	for (i = 0; i < req->headers; i++) {
		ret = read_word(req, &req->header[i], &value);
		if (ret)
			return ret;
		if (value != req->header[i].new)
			return -EBUSY;
	}
	return 0;
}

/*
 * Put back the words that are as they were written: by now the memory may be
 * used for something else.
 */
static void put_words_back(struct request *req)
{
	u32 i, value;
	int ret;

	nvdebug_mem_insist(req->mem);
	for (i = 0; i < req->written; i++) {
		const struct header *header = &req->header[i];

		ret = read_word(req, header, &value);
		if (!ret && value == header->new)
			ret = write_word(req, header, header->old, &value);
		if (ret)
			dev_err(&req->gpu->pdev->dev,
				"a timeslice of TSG %u did not go back (%d)\n",
				req->target.id, ret);
	}
}

static void put_back(struct request *req)
{
	int ret;

	if (may_be_our_own(req)) {
		mutex_lock(&req->gpu->lock);
		if (!still_there(req))
			put_words_back(req);
		mutex_unlock(&req->gpu->lock);
	} else {
		put_words_back(req);
	}
	if (!req->submitted)
		return;
	mutex_lock(&req->gpu->lock);
	ret = submit_undo(req);
	mutex_unlock(&req->gpu->lock);
	if (ret)
		dev_err(&req->gpu->pdev->dev,
			"runlist %u may still have the new timeslice of TSG %u (%d)\n",
			req->runlist->id, req->target.id, ret);
}

static int apply(struct request *req)
{
	struct nvdebug_gpu *gpu = req->gpu;
	int ret;

	ret = write_headers(req);
	if (!ret)
		ret = mutex_lock_killable(&gpu->lock);
	if (!ret) {
		ret = submit(req);
		mutex_unlock(&gpu->lock);
	}
	if (!ret)
		ret = verify(req);
	if (ret)
		put_back(req);
	return ret;
}

static void put_us(struct seq_buf *answer, const char *key, u64 ns)
{
	u32 rest;
	u64 us = div_u64_rem(ns, 1000, &rest);

	seq_buf_printf(answer, "%s: %llu.%03u\n", key, us, rest);
}

static void tell(const struct request *req, struct seq_buf *answer)
{
	struct nvdebug_report report;
	u64 new_ns = nvdebug_timeslice_ns(req->timeout, req->scale);
	u32 rest;
	u64 us = div_u64_rem(new_ns, 1000, &rest);

	seq_buf_printf(answer, "runlist: %u\n", req->runlist->id);
	seq_buf_printf(answer, "tsg: %u\n", req->target.id);
	put_us(answer, "asked_us", req->asked_ns);
	put_us(answer, "old_us", req->old_ns);
	put_us(answer, "new_us", new_ns);
	seq_buf_printf(answer, "timeout: %u\n", req->timeout);
	seq_buf_printf(answer, "scale: %u\n", req->scale);
	seq_buf_printf(answer, "headers: %u\n", req->headers);

	nvdebug_report_begin(&report);
	nvdebug_report_item(&report, "%u:%u %llu.%03u us", req->runlist->id,
			    req->target.id, us, rest);
	nvdebug_report_end(&report, req->gpu, "set the timeslice of", "TSG");
}

static int request_run(struct request *req, struct seq_buf *answer)
{
	int ret;

	ret = resolve(req);
	if (ret)
		return ret;
	req->mem = nvdebug_mem_begin(req->gpu);
	if (IS_ERR(req->mem))
		return PTR_ERR(req->mem);
	ret = read_list(req);
	if (!ret)
		ret = apply(req);
	if (!ret)
		tell(req, answer);
	nvdebug_mem_end(req->mem);
	return ret;
}

static int set_timeslice(struct nvdebug_gpu *gpu, const char *text, size_t len,
			 struct seq_buf *answer)
{
	struct request req = { .gpu = gpu };
	int ret;

	ret = parse(&req, text, len);
	if (ret)
		return ret;
	ret = nvdebug_gpu_begin(gpu);
	if (ret)
		return ret;
	ret = request_run(&req, answer);
	nvdebug_gpu_end(gpu);
	kvfree(req.header);
	kvfree(req.copy.words);
	return ret;
}

const struct nvdebug_control nvdebug_set_timeslice_control = {
	.text_max = NVDEBUG_TARGETS_TEXT_MAX,
	.changes = true,
	.answers = true,
	.act = set_timeslice,
};
