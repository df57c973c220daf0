// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Write timeslices into the TSG headers of the current list in memory, and
 * submit the list again.
 */
#include <linux/err.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/seq_buf.h>
#include <linux/string.h>

#include "chips/chips.h"
#include "control/controls.h"
#include "control/report.h"
#include "core/control.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "decode/runlist.h"
#include "decode/targets.h"
#include "decode/timeslice.h"
#include "host/override_list.h"
#include "host/submit.h"
#include "host/trace.h"
#include "state/override.h"
#include "state/resolve.h"
#include "state/runlist.h"

/*
 * A header of the TSG, which may be listed several times. Word 0 is written if
 * the other words are still the words of this header.
 */
struct tsg_header {
	u64 addr;
	u32 old;
	u32 new;
	u32 rest[NVDEBUG_ENTRY_WORDS - 1];
};

/* Maximum number of headers that a lease saves: far more than any driver uses. */
#define LEASE_HEADERS_MAX	256

/* The words to write, and the undo record of a lease. */
struct timeslice_edit {
	struct nvdebug_undo undo;
	struct nvdebug_gpu *gpu;
	struct nvdebug_mem *mem;	/* during a session */
	struct nvdebug_runlist *runlist;
	struct nvdebug_runlist_location loc;	/* location of the list */
	u32 tsg;
	u64 old_ns;	/* timeslice in the first header */
	bool submitted;
	u32 written;	/* written headers, from the first one on */
	u32 headers;
	struct tsg_header header[];
};

struct timeslice_request {
	struct nvdebug_gpu *gpu;
	struct nvdebug_mem *mem;
	struct nvdebug_target target;
	u64 asked_ns;
	u8 timeout;	/* asked_ns as the hardware encodes it */
	u8 scale;
	bool leased;

	struct nvdebug_runlist *runlist;
	struct nvdebug_runlist_copy copy;
	struct timeslice_edit *edit;
};

static int timeslice_parse(struct timeslice_request *req, const char *text,
			   size_t len)
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

static int timeslice_resolve(struct timeslice_request *req)
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

/* Return word 0 of entry @i if the entry is a header of the TSG, else NULL. */
static const u32 *list_header_at(const struct timeslice_request *req, u32 i,
				 struct nvdebug_entry *entry)
{
	const struct nvdebug_runlist_ops *ops = req->gpu->chip->runlist;
	const u32 *word = req->copy.words + i * ops->entry_words;

	if (ops->decode(word, ops->entry_words, entry) ||
	    entry->kind != NVDEBUG_ENTRY_TSG || entry->id != req->target.id)
		return NULL;
	return word;
}

static u32 list_count_headers(const struct timeslice_request *req)
{
	struct nvdebug_entry entry;
	u32 i, n = 0;

	for (i = 0; i < req->copy.loc.entries; i++)
		n += !!list_header_at(req, i, &entry);
	return n;
}

/* Find the headers in the copy of the list. */
static int list_find_headers(struct timeslice_request *req)
{
	const struct nvdebug_runlist_ops *ops = req->gpu->chip->runlist;
	u32 headers = list_count_headers(req);
	struct nvdebug_entry entry;
	struct tsg_header *header;
	struct timeslice_edit *edit;
	const u32 *word;
	u32 i;

	if (!headers)
		return -EINVAL;
	if (req->leased && headers > LEASE_HEADERS_MAX)
		return -E2BIG;
	edit = kvzalloc(struct_size(edit, header, headers), GFP_KERNEL_ACCOUNT);
	if (!edit)
		return -ENOMEM;
	req->edit = edit;
	edit->gpu = req->gpu;
	edit->mem = req->mem;
	edit->runlist = req->runlist;
	edit->loc = req->copy.loc;
	edit->tsg = req->target.id;
	for (i = 0; i < req->copy.loc.entries; i++) {
		word = list_header_at(req, i, &entry);
		if (!word)
			continue;
		if (!edit->headers)
			edit->old_ns = nvdebug_timeslice_ns(entry.timeout,
							    entry.scale);
		header = &edit->header[edit->headers++];
		header->addr = edit->loc.addr +
			       (u64)i * ops->entry_words * sizeof(u32);
		header->old = word[0];
		header->new = ops->set_timeslice(word[0], req->timeout,
						 req->scale);
		memcpy(header->rest, word + 1,
		       (ops->entry_words - 1) * sizeof(u32));
	}
	return 0;
}

static int timeslice_read_list(struct timeslice_request *req)
{
	int ret;

	ret = nvdebug_runlist_copy(req->gpu, req->mem, req->runlist, true,
				   &req->copy);
	if (!ret && req->copy.torn)
		ret = -EBUSY;
	else if (!ret && !req->copy.words)
		ret = -EIO;
	return ret ? ret : list_find_headers(req);
}

static int header_read_word(struct timeslice_edit *edit,
			    const struct tsg_header *header, u32 *value)
{
	struct nvdebug_mem_request want = {
		.addr = header->addr,
		.aperture = edit->loc.aperture,
		.words = 1,
		.buf = value,
	};

	return nvdebug_mem_read(edit->mem, &want);
}

static int header_write_word(struct timeslice_edit *edit,
			     const struct tsg_header *header, u32 expected,
			     u32 value)
{
	struct nvdebug_mem_guard guard[NVDEBUG_ENTRY_WORDS - 1];
	const struct nvdebug_mem_change change = {
		.addr = header->addr,
		.aperture = edit->loc.aperture,
		.expected = expected,
		.value = value,
		.guard = guard,
		.guards = edit->gpu->chip->runlist->entry_words - 1,
	};
	u32 i;
	int ret;

	for (i = 0; i < change.guards; i++)
		guard[i] = (struct nvdebug_mem_guard) {
			.addr = header->addr + (i + 1) * sizeof(u32),
			.value = header->rest[i],
		};
	ret = nvdebug_mem_write(edit->mem, &change);
	if (!ret)
		trace_timeslice(edit->gpu, edit->runlist->id,
				edit->tsg, header->addr, expected, value);
	return ret;
}

static int edit_write_all(struct timeslice_edit *edit)
{
	u32 i;
	int ret;

	for (i = 0; i < edit->headers; i++) {
		const struct tsg_header *header = &edit->header[i];

		/*
		 * The present header counts, too: a failed write may have had
		 * an effect.
		 */
		edit->written = i + 1;
		ret = header_write_word(edit, header, header->old, header->new);
		if (ret)
			return ret;
	}
	return 0;
}

/* Check that the list that was read is still current, else return -EBUSY. */
static int edit_check_list(struct timeslice_edit *edit)
{
	struct nvdebug_runlist_location now;
	int ret = nvdebug_submit_locate(edit->gpu, edit->runlist, &now);

	if (ret)
		return ret;
	return nvdebug_runlist_location_same(&now, &edit->loc) ? 0 : -EBUSY;
}

/*
 * Check that the list that was read is still current, or replaced by the
 * current override list. Else return -EBUSY.
 */
static int edit_check_original_list(struct timeslice_edit *edit)
{
	struct nvdebug_runlist_location now;
	int ret = nvdebug_submit_locate(edit->gpu, edit->runlist, &now);

	if (ret || nvdebug_runlist_location_same(&now, &edit->loc))
		return ret;
	nvdebug_override_original(edit->gpu, edit->runlist, &now);
	return nvdebug_runlist_location_same(&now, &edit->loc) ? 0 : -EBUSY;
}

static int edit_write_headers(struct timeslice_edit *edit)
{
	bool held = nvdebug_mem_needs_lock(edit->gpu, edit->loc.aperture);
	int ret;

	if (mutex_lock_killable(&edit->gpu->lock))
		return -EINTR;
	ret = edit_check_list(edit);
	if (!ret && held)
		ret = edit_write_all(edit);
	mutex_unlock(&edit->gpu->lock);
	return ret || held ? ret : edit_write_all(edit);
}

/* Submit the list again if it is still current, else return -EBUSY. */
static int edit_submit(struct timeslice_edit *edit)
{
	struct nvdebug_gpu *gpu = edit->gpu;
	struct nvdebug_runlist_location now;
	int ret;

	lockdep_assert_held(&gpu->lock);
	ret = nvdebug_submit_settle(gpu, edit->runlist, &now);
	if (!ret && !nvdebug_runlist_location_same(&now, &edit->loc))
		ret = -EBUSY;
	if (ret)
		return ret;
	edit->submitted = true;
	ret = nvdebug_submit(gpu, edit->runlist, &now, &edit->loc);
	return ret ? ret : nvdebug_submit_settle(gpu, edit->runlist, &now);
}

/*
 * Submit the list again after the old words were restored. Not interruptible.
 */
static int edit_submit_undo(struct timeslice_edit *edit)
{
	struct nvdebug_gpu *gpu = edit->gpu;
	struct nvdebug_runlist_location now;
	int ret;

	lockdep_assert_held(&gpu->lock);
	ret = nvdebug_submit_settle_undo(gpu, edit->runlist, &now);
	/* If another list is current, nothing was written to it. */
	if (ret || !nvdebug_runlist_location_same(&now, &edit->loc))
		return ret;
	ret = nvdebug_submit(gpu, edit->runlist, &now, &edit->loc);
	/* A list that the driver submitted meanwhile is fine, too. */
	if (ret == -EBUSY)
		return 0;
	return ret ? ret : nvdebug_submit_settle_undo(gpu, edit->runlist, &now);
}

/* Check that the driver has not overwritten the headers. */
static int edit_verify(struct timeslice_edit *edit)
{
	u32 i, value;
	int ret;

	for (i = 0; i < edit->headers; i++) {
		ret = header_read_word(edit, &edit->header[i], &value);
		if (ret)
			return ret;
		if (value != edit->header[i].new)
			return -EBUSY;
	}
	return 0;
}

static void edit_restore_failed(const struct timeslice_edit *edit, u32 words,
				int error)
{
	nvdebug_err_ratelimit(edit->gpu,
			      "TSG %u: failed to restore %u timeslices (%d)\n",
			      edit->tsg, words, error);
}

/*
 * Restore the words that still have the new value; the memory may have been
 * reused by now. Returns how many words were restored.
 */
static u32 edit_restore_words(struct timeslice_edit *edit)
{
	u32 i, value, back = 0, failed = 0;
	int ret, error = 0;

	nvdebug_mem_set_restoring(edit->mem);
	for (i = 0; i < edit->written; i++) {
		const struct tsg_header *header = &edit->header[i];

		ret = header_read_word(edit, header, &value);
		if (!ret &&
		    (value != header->new || header->old == header->new))
			continue;
		if (!ret)
			ret = header_write_word(edit, header, header->new,
						header->old);
		if (ret) {
			error = ret;
			failed++;
		} else {
			back++;
		}
	}
	if (failed)
		edit_restore_failed(edit, failed, error);
	return back;
}

/* Restore the timeslices. Returns how many headers were restored. */
static u32 edit_restore(struct timeslice_edit *edit)
{
	bool held = nvdebug_mem_needs_lock(edit->gpu, edit->loc.aperture);
	u32 back = 0;
	int ret;

	mutex_lock(&edit->gpu->lock);
	ret = edit_check_original_list(edit);
	if (!ret && held)
		back = edit_restore_words(edit);
	mutex_unlock(&edit->gpu->lock);
	if (!ret && !held)
		back = edit_restore_words(edit);
	/* -EBUSY: another list is current, and nothing was written to it. */
	if (ret && ret != -EBUSY && edit->written)
		edit_restore_failed(edit, edit->written, ret);
	if (!edit->submitted || !back)
		return back;
	mutex_lock(&edit->gpu->lock);
	ret = edit_submit_undo(edit);
	mutex_unlock(&edit->gpu->lock);
	if (ret)
		nvdebug_err_ratelimit(edit->gpu,
				      "runlist %u may still have the new timeslice of TSG %u (%d)\n",
				      edit->runlist->id, edit->tsg, ret);
	return back;
}

static int edit_apply(struct timeslice_edit *edit)
{
	struct nvdebug_gpu *gpu = edit->gpu;
	int ret;

	ret = edit_write_headers(edit);
	if (ret)
		goto err_restore;
	ret = mutex_lock_killable(&gpu->lock);
	if (ret)
		goto err_restore;
	ret = edit_submit(edit);
	mutex_unlock(&gpu->lock);
	if (ret)
		goto err_restore;
	ret = edit_verify(edit);
	if (ret)
		goto err_restore;
	return 0;

err_restore:
	edit_restore(edit);
	return ret;
}

static void put_us(struct seq_buf *answer, const char *key, u64 ns)
{
	u32 rest;
	u64 us = div_u64_rem(ns, 1000, &rest);

	seq_buf_printf(answer, "%s: %llu.%03u\n", key, us, rest);
}

static void timeslice_report_item(struct nvdebug_report *report,
				  const struct timeslice_edit *edit, u64 ns)
{
	u32 rest;
	u64 us = div_u64_rem(ns, 1000, &rest);

	nvdebug_report_item(report, "%u:%u %llu.%03u us", edit->runlist->id,
			    edit->tsg, us, rest);
}

static void timeslice_lease_over(struct nvdebug_gpu *gpu,
				 struct nvdebug_undo *undo)
{
	struct timeslice_edit *edit =
		container_of(undo, struct timeslice_edit, undo);
	struct nvdebug_report report;
	int ret;

	nvdebug_report_begin(&report);
	mutex_lock(&gpu->lock);
	ret = edit_check_original_list(edit);
	mutex_unlock(&gpu->lock);
	if (!ret) {
		edit->mem = nvdebug_mem_begin_undo(gpu);
		if (edit_restore(edit))
			timeslice_report_item(&report, edit, edit->old_ns);
		nvdebug_mem_end(edit->mem);
	} else if (ret != -EBUSY) {
		nvdebug_err_ratelimit(gpu,
				      "TSG %u: failed to restore the timeslice (%d)\n",
				      edit->tsg, ret);
	}
	nvdebug_report_end(&report, gpu, "lease over: set the timeslice of",
			   "TSG");
}

static void timeslice_answer(const struct timeslice_request *req,
			     struct seq_buf *answer)
{
	struct nvdebug_report report;
	u64 new_ns = nvdebug_timeslice_ns(req->timeout, req->scale);

	seq_buf_printf(answer, "runlist: %u\n", req->runlist->id);
	seq_buf_printf(answer, "tsg: %u\n", req->target.id);
	put_us(answer, "asked_us", req->asked_ns);
	put_us(answer, "old_us", req->edit->old_ns);
	put_us(answer, "new_us", new_ns);
	seq_buf_printf(answer, "timeout: %u\n", req->timeout);
	seq_buf_printf(answer, "scale: %u\n", req->scale);
	seq_buf_printf(answer, "headers: %u\n", req->edit->headers);

	nvdebug_report_begin(&report);
	timeslice_report_item(&report, req->edit, new_ns);
	nvdebug_report_end(&report, req->gpu, "set the timeslice of", "TSG");
}

static int timeslice_run(struct timeslice_request *req, struct seq_buf *answer)
{
	int ret;

	ret = timeslice_resolve(req);
	if (ret)
		return ret;
	req->mem = nvdebug_mem_begin(req->gpu);
	if (IS_ERR(req->mem))
		return PTR_ERR(req->mem);
	ret = timeslice_read_list(req);
	if (!ret)
		ret = edit_apply(req->edit);
	if (!ret)
		timeslice_answer(req, answer);
	nvdebug_mem_end(req->mem);
	return ret;
}

static int set_timeslice(struct nvdebug_gpu *gpu, const char *text, size_t len,
			 struct seq_buf *answer, struct nvdebug_undo **undo)
{
	struct timeslice_request req = { .gpu = gpu, .leased = undo };
	int ret;

	ret = timeslice_parse(&req, text, len);
	if (ret)
		return ret;
	ret = nvdebug_gpu_begin(gpu);
	if (ret)
		return ret;
	ret = timeslice_run(&req, answer);
	nvdebug_gpu_end(gpu);
	if (!ret && undo) {
		req.edit->undo.run = timeslice_lease_over;
		*undo = &req.edit->undo;
	} else {
		kvfree(req.edit);
	}
	kvfree(req.copy.words);
	return ret;
}

const struct nvdebug_control nvdebug_set_timeslice_control = {
	.text_max = NVDEBUG_TARGETS_TEXT_MAX,
	.changes = true,
	.leases = true,
	.answers = true,
	.act = set_timeslice,
};
