// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Setting the preemption mode of a context: one word of its image in memory,
 * for firmware to find when it loads the context the next time. That it does is
 * known from linux-nvgpu, which sets it likewise in contexts that exist, but
 * takes them off the engine first (common/gr/gr_setup.c): that firmware does not
 * overwrite the word when it saves a context that is on it is inferred.
 *
 * The context-switch timeout stays as it is. It is one register of the engine
 * and not of the context, with which the driver looks after that engine;
 * linux-nvgpu sets it when it starts, and no more when a mode changes, on gv11b
 * and tu104 (hal/fifo/ctxsw_timeout_gv11b_fusa.c) as on ga10b
 * (ctxsw_timeout_ga10b_fusa.c). What NVIDIA's other driver does is up to its
 * firmware, which is not published.
 */
#include <linux/bitfield.h>
#include <linux/err.h>
#include <linux/slab.h>

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

struct request {
	struct nvdebug_undo undo;
	struct nvdebug_gpu *gpu;
	struct nvdebug_target target;
	u32 mode;
	u32 old_mode;
	struct nvdebug_runlist *runlist;
	u64 image;	/* where it is */
	u8 aperture;
	u32 context;	/* its id, as long as the image is that one's */
};

static int request_parse(struct request *req, const char *text, size_t len)
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

static int resolve(struct request *req)
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

/* The errors of instances.h in the words of a write. */
static int request_error(int error)
{
	switch (error) {
	case -ENOENT:
	case -ENODATA:
		return -EINVAL;
	case -EAGAIN:
		return -EBUSY;
	case -ENXIO:
		return -EFAULT;
	case -ENOEXEC:
		return -EIO;
	default:
		return error;
	}
}

/* Find the context image of the channel, in *@image, which belongs to @set. */
static int find_image(struct request *req, struct nvdebug_instances *set,
		      struct nvdebug_mem *mem,
		      const struct nvdebug_image **image)
{
	struct nvdebug_block *block;
	int ret;

	if (!nvdebug_runlist_has_graphics(req->gpu, req->runlist->id))
		return -EINVAL;
	set->with_images = true;
	ret = nvdebug_instances_find(set, mem, req->runlist, req->target.id,
				     &block);
	if (!ret)
		ret = nvdebug_block_image(block, image);
	return request_error(ret);
}

static int read_word(const struct request *req, struct nvdebug_mem *mem,
		     u32 number, u32 *word)
{
	struct nvdebug_mem_request want = {
		.addr = req->image + number * sizeof(u32),
		.aperture = req->aperture,
		.words = 1,
		.buf = word,
	};

	return nvdebug_mem_read(mem, &want);
}

/*
 * The word with the mode, and whose it is. -ENOENT if there is no context image
 * any more: a write would spoil anything else.
 */
static int read_options(const struct request *req, struct nvdebug_mem *mem,
			u32 *word, u32 *context)
{
	u32 magic;
	int ret;

	ret = read_word(req, mem, NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS,
			word);
	if (!ret)
		ret = read_word(req, mem, NV_CTXSW_MAIN_IMAGE_CONTEXT_ID,
				context);
	if (!ret)
		ret = read_word(req, mem, NV_CTXSW_MAIN_IMAGE_MAGIC_VALUE,
				&magic);
	if (!ret && magic != NV_CTXSW_MAIN_IMAGE_MAGIC_VALUE_V_VALUE)
		ret = -ENOENT;
	return ret;
}

/* @old is what read_options() has just read. */
static int write_options(const struct request *req, struct nvdebug_mem *mem,
			 u32 old, u32 mode)
{
	u64 addr = req->image + NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS *
				sizeof(u32);
	u32 word = (old & ~MODE) | FIELD_PREP(MODE, mode);
	int ret;

	ret = nvdebug_mem_write(mem, req->aperture, addr, old, word);
	if (!ret)
		trace_preemption_mode(req->gpu, req->runlist->id,
				      req->target.id, addr, old, word);
	return ret;
}

/* Returns 1 if the mode was put back, 0 if there was none to, or an error. */
static int put_back(const struct request *req, struct nvdebug_mem *mem)
{
	u32 word, context;
	int ret;

	ret = read_options(req, mem, &word, &context);
	if (ret == -ENOENT)
		return 0;
	if (ret)
		return ret;
	if (context != req->context || FIELD_GET(MODE, word) != req->mode ||
	    req->mode == req->old_mode)
		return 0;
	ret = write_options(req, mem, word, req->old_mode);
	return ret ? ret : 1;
}

static void complain(const struct request *req, int error)
{
	nvdebug_err_ratelimit(req->gpu,
			      "the preemption mode of channel %u did not go back (%d)\n",
			      req->target.id, error);
}

static int write_mode(struct request *req, struct nvdebug_mem *mem)
{
	u32 word;
	int ret, error;

	ret = read_options(req, mem, &word, &req->context);
	if (ret)
		return ret == -ENOENT ? -EBUSY : ret;
	req->old_mode = FIELD_GET(MODE, word);
	ret = write_options(req, mem, word, req->mode);
	if (!ret)
		return 0;
	/* a write that failed may have had an effect */
	nvdebug_mem_insist(mem);
	error = put_back(req, mem);
	if (error < 0)
		complain(req, error);
	return ret;
}

static int apply(struct request *req, struct nvdebug_mem *mem,
		 struct nvdebug_instances *set)
{
	const struct nvdebug_image *image;
	int ret;

	ret = find_image(req, set, mem, &image);
	if (ret)
		return ret;
	if (req->mode ==
	    NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS_CONTROL_CILP &&
	    !image->context.save_area)
		return -EOPNOTSUPP;
	req->image = image->addr;
	req->aperture = image->aperture;
	return write_mode(req, mem);
}

static int request_run(struct request *req)
{
	struct nvdebug_instances *set;
	struct nvdebug_mem *mem;
	int ret;

	ret = resolve(req);
	if (ret)
		return ret;
	mem = nvdebug_mem_begin(req->gpu);
	if (IS_ERR(mem))
		return PTR_ERR(mem);
	set = nvdebug_instances_create(req->gpu);
	ret = set ? apply(req, mem, set) : -ENOMEM;
	nvdebug_instances_free(set);
	nvdebug_mem_end(mem);
	return ret;
}

static void report_mode(struct nvdebug_report *report, const struct request *req,
			u32 mode)
{
	nvdebug_report_item(report, "%u:%u %s", req->runlist->id,
			    req->target.id, mode < ARRAY_SIZE(mode_words) ?
					    mode_words[mode] : "as it was");
}

static void lease_over(struct nvdebug_gpu *gpu, struct nvdebug_undo *undo)
{
	const struct request *req = container_of(undo, struct request, undo);
	struct nvdebug_mem *mem = nvdebug_mem_begin_undo(gpu);
	struct nvdebug_report report;
	int ret;

	ret = put_back(req, mem);
	nvdebug_mem_end(mem);
	if (ret < 0)
		complain(req, ret);
	nvdebug_report_begin(&report);
	if (ret > 0)
		report_mode(&report, req, req->old_mode);
	nvdebug_report_end(&report, gpu,
			   "lease over: set the preemption mode of", "channel");
}

static int request_act(struct request *req, const char *text, size_t len)
{
	struct nvdebug_report report;
	int ret;

	ret = request_parse(req, text, len);
	if (ret)
		return ret;
	ret = nvdebug_gpu_begin(req->gpu);
	if (ret)
		return ret;
	ret = request_run(req);
	nvdebug_gpu_end(req->gpu);
	if (ret)
		return ret;

	nvdebug_report_begin(&report);
	report_mode(&report, req, req->mode);
	nvdebug_report_end(&report, req->gpu, "set the preemption mode of",
			   "channel");
	return 0;
}

static int set_preemption_mode(struct nvdebug_gpu *gpu, const char *text,
			       size_t len, struct seq_buf *answer,
			       struct nvdebug_undo **undo)
{
	struct request *req = kzalloc(sizeof(*req), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!req)
		return -ENOMEM;
	req->gpu = gpu;
	req->undo.run = lease_over;
	ret = request_act(req, text, len);
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
