// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Set the preemption mode of a context: one word of its image in memory, read
 * by firmware on the next context load. linux-nvgpu sets it in existing
 * contexts in the same way, but preempts them first (common/gr/gr_setup.c).
 * That firmware does not overwrite the word when it saves a running context is
 * inferred.
 *
 * The context-switch timeout is not changed. It is one register per engine, not
 * per context, by which the driver monitors the engine; linux-nvgpu sets it at
 * start and not on a change of mode, on gv11b and tu104
 * (hal/fifo/ctxsw_timeout_gv11b_fusa.c) as on ga10b
 * (ctxsw_timeout_ga10b_fusa.c). In NVIDIA's other driver that is up to
 * firmware, which is not published.
 */
#include <linux/bitfield.h>
#include <linux/err.h>
#include <linux/slab.h>

#include "chips/chips.h"
#include "control/controls.h"
#include "control/report.h"
#include "core/control.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "decode/targets.h"
#include "host/trace.h"
#include "hw/ctxsw.h"
#include "state/blocks.h"
#include "state/instances.h"
#include "state/resolve.h"

#define MODE	NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS_CONTROL

static const char * const mode_words[] = {
	[NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS_CONTROL_WFI] = "wfi",
	[NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS_CONTROL_CTA] = "cta",
	[NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS_CONTROL_CILP] = "cilp",
};

struct preemption_mode_request {
	struct nvdebug_undo undo;
	struct nvdebug_gpu *gpu;
	struct nvdebug_target target;
	u32 mode;
	u32 old_mode;
	struct nvdebug_runlist *runlist;
	u64 image;	/* address of the context image */
	u8 aperture;
	u32 context;	/* context id in the image */
};

static int preemption_mode_parse(struct preemption_mode_request *req,
				 const char *text, size_t len)
{
	struct nvdebug_cursor cur = { text, text + len };
	int ret;

	if (!nvdebug_cursor_more(&cur))
		return -EINVAL;
	ret = nvdebug_cursor_target(&cur, &req->target);
	if (ret)
		return ret;
	nvdebug_cursor_more(&cur);
	ret = nvdebug_cursor_choice(&cur, mode_words, ARRAY_SIZE(mode_words));
	if (ret < 0)
		return ret;
	req->mode = ret;
	return nvdebug_cursor_more(&cur) ? -EINVAL : 0;
}

static int preemption_mode_resolve(struct preemption_mode_request *req)
{
	struct nvdebug_resolver resolver;
	int ret;

	ret = nvdebug_resolver_init(&resolver, req->gpu, NVDEBUG_ENTRY_CHANNEL);
	if (!ret)
		ret = nvdebug_resolve_listed(&resolver, &req->target,
					     &req->runlist);
	nvdebug_resolver_free(&resolver);
	return ret;
}

/* Find the context image of the channel. @set owns *@image. */
static int preemption_mode_find_image(struct preemption_mode_request *req,
				      struct nvdebug_instances *set,
				      struct nvdebug_mem *mem,
				      const struct nvdebug_image **image)
{
	struct nvdebug_block *block;
	int ret;

	if (!nvdebug_runlist_has_graphics(&req->gpu->topology,
					  req->runlist->id))
		return -EINVAL;
	set->with_images = true;
	ret = nvdebug_instances_find(set, mem, req->runlist, req->target.id,
				     &block);
	if (ret)
		return ret;
	return nvdebug_instance_status_error(nvdebug_block_image(block, image));
}

static u64 image_word(const struct preemption_mode_request *req, u32 number)
{
	return req->image + number * sizeof(u32);
}

static int image_read_word(const struct preemption_mode_request *req,
			   struct nvdebug_mem *mem, u32 number, u32 *word)
{
	struct nvdebug_mem_request want = {
		.addr = image_word(req, number),
		.aperture = req->aperture,
		.words = 1,
		.buf = word,
	};

	return nvdebug_mem_read(mem, &want);
}

/*
 * Read the word with the mode, and the context id. Returns -ENOENT if there is
 * no context image any more, so the memory must not be written.
 */
static int image_read_options(const struct preemption_mode_request *req,
			      struct nvdebug_mem *mem, u32 *word, u32 *context)
{
	u32 magic;
	int ret;

	ret = image_read_word(req, mem,
			      NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS,
			      word);
	if (ret)
		return ret;
	ret = image_read_word(req, mem, NV_CTXSW_MAIN_IMAGE_CONTEXT_ID, context);
	if (ret)
		return ret;
	ret = image_read_word(req, mem, NV_CTXSW_MAIN_IMAGE_MAGIC_VALUE, &magic);
	if (ret)
		return ret;
	return magic == NV_CTXSW_MAIN_IMAGE_MAGIC_VALUE_V_VALUE ? 0 : -ENOENT;
}

/*
 * Write the word with the mode. @old is the word that image_read_options() has
 * just read. It is usually 0 or 1, as are many words of other memory, so magic
 * and context id must still be there, too.
 */
static int image_write_options(const struct preemption_mode_request *req,
			       struct nvdebug_mem *mem, u32 old, u32 mode)
{
	const struct nvdebug_mem_guard image[] = {
		{ image_word(req, NV_CTXSW_MAIN_IMAGE_MAGIC_VALUE),
		  NV_CTXSW_MAIN_IMAGE_MAGIC_VALUE_V_VALUE },
		{ image_word(req, NV_CTXSW_MAIN_IMAGE_CONTEXT_ID),
		  req->context },
	};
	const struct nvdebug_mem_change change = {
		.addr = image_word(req,
			NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS),
		.aperture = req->aperture,
		.expected = old,
		.value = (old & ~MODE) | FIELD_PREP(MODE, mode),
		.guard = image,
		.guards = ARRAY_SIZE(image),
	};
	bool held = nvdebug_mem_needs_lock(req->gpu, req->aperture);
	int ret;

	/* The lock is not killable, because a lease is undone here, too. */
	if (held)
		mutex_lock(&req->gpu->lock);
	ret = nvdebug_mem_write(mem, &change);
	if (held)
		mutex_unlock(&req->gpu->lock);
	if (!ret)
		trace_preemption_mode(req->gpu, req->runlist->id,
				      req->target.id, change.addr, old,
				      change.value);
	return ret;
}

/*
 * Restore the mode. Returns 1 if it was restored, 0 if there was nothing to do,
 * or an error.
 */
static int preemption_mode_restore(const struct preemption_mode_request *req,
				   struct nvdebug_mem *mem)
{
	u32 word, context;
	int ret;

	ret = image_read_options(req, mem, &word, &context);
	if (ret == -ENOENT)
		return 0;
	if (ret)
		return ret;
	if (context != req->context || FIELD_GET(MODE, word) != req->mode ||
	    req->mode == req->old_mode)
		return 0;
	ret = image_write_options(req, mem, word, req->old_mode);
	return ret ? ret : 1;
}

static void
preemption_mode_restore_failed(const struct preemption_mode_request *req,
			       int error)
{
	nvdebug_err_ratelimit(req->gpu,
			      "channel %u: failed to restore the preemption mode (%d)\n",
			      req->target.id, error);
}

static int preemption_mode_write(struct preemption_mode_request *req,
				 struct nvdebug_mem *mem)
{
	u32 word;
	int ret, error;

	ret = image_read_options(req, mem, &word, &req->context);
	if (ret)
		return ret == -ENOENT ? -EBUSY : ret;
	req->old_mode = FIELD_GET(MODE, word);
	ret = image_write_options(req, mem, word, req->mode);
	if (!ret)
		return 0;
	/* A write that failed may have had an effect. */
	nvdebug_mem_set_restoring(mem);
	error = preemption_mode_restore(req, mem);
	if (error < 0)
		preemption_mode_restore_failed(req, error);
	return ret;
}

static int preemption_mode_apply(struct preemption_mode_request *req,
				 struct nvdebug_mem *mem,
				 struct nvdebug_instances *set)
{
	const struct nvdebug_image *image;
	int ret;

	ret = preemption_mode_find_image(req, set, mem, &image);
	if (ret)
		return ret;
	if (req->mode ==
	    NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS_CONTROL_CILP &&
	    !image->context.save_area)
		return -EOPNOTSUPP;
	req->image = image->addr;
	req->aperture = image->aperture;
	return preemption_mode_write(req, mem);
}

static int preemption_mode_run(struct preemption_mode_request *req)
{
	struct nvdebug_instances *set;
	struct nvdebug_mem *mem;
	int ret;

	ret = preemption_mode_resolve(req);
	if (ret)
		return ret;
	mem = nvdebug_mem_begin(req->gpu);
	if (IS_ERR(mem))
		return PTR_ERR(mem);
	set = nvdebug_instances_create(req->gpu);
	ret = set ? preemption_mode_apply(req, mem, set) : -ENOMEM;
	nvdebug_instances_free(set);
	nvdebug_mem_end(mem);
	return ret;
}

static void
preemption_mode_report_item(struct nvdebug_report *report,
			    const struct preemption_mode_request *req, u32 mode)
{
	nvdebug_report_item(report, "%u:%u %s", req->runlist->id,
			    req->target.id, mode < ARRAY_SIZE(mode_words) ?
					    mode_words[mode] : "as it was");
}

static void preemption_mode_lease_over(struct nvdebug_gpu *gpu,
				       struct nvdebug_undo *undo)
{
	const struct preemption_mode_request *req =
		container_of(undo, struct preemption_mode_request, undo);
	struct nvdebug_mem *mem = nvdebug_mem_begin_undo(gpu);
	struct nvdebug_report report;
	int ret;

	ret = preemption_mode_restore(req, mem);
	nvdebug_mem_end(mem);
	if (ret < 0)
		preemption_mode_restore_failed(req, ret);
	nvdebug_report_begin(&report);
	if (ret > 0)
		preemption_mode_report_item(&report, req, req->old_mode);
	nvdebug_report_end(&report, gpu,
			   "lease over: set the preemption mode of", "channel");
}

static int preemption_mode_request_act(struct preemption_mode_request *req,
				       const char *text, size_t len)
{
	struct nvdebug_report report;
	int ret;

	ret = preemption_mode_parse(req, text, len);
	if (ret)
		return ret;
	ret = nvdebug_gpu_begin(req->gpu);
	if (ret)
		return ret;
	ret = preemption_mode_run(req);
	nvdebug_gpu_end(req->gpu);
	if (ret)
		return ret;

	nvdebug_report_begin(&report);
	preemption_mode_report_item(&report, req, req->mode);
	nvdebug_report_end(&report, req->gpu, "set the preemption mode of",
			   "channel");
	return 0;
}

static int set_preemption_mode(struct nvdebug_gpu *gpu, const char *text,
			       size_t len, struct seq_buf *answer,
			       struct nvdebug_undo **undo)
{
	struct preemption_mode_request *req =
		kzalloc(sizeof(*req), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!req)
		return -ENOMEM;
	req->gpu = gpu;
	req->undo.run = preemption_mode_lease_over;
	ret = preemption_mode_request_act(req, text, len);
	if (!ret && undo)
		*undo = &req->undo;
	else
		kfree(req);
	return ret;
}

const struct nvdebug_control nvdebug_preemption_mode_control = {
	.text_max = NVDEBUG_TARGETS_TEXT_MAX,
	.changes = true,
	.leases = true,
	.act = set_preemption_mode,
};
