// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Setting the preemption mode of a context: one word of its image in memory,
 * for firmware to find when it loads the context the next time. That it does,
 * and does not overwrite the word when it saves the context, is inferred from
 * linux-nvgpu, which sets it likewise in contexts that exist.
 */
#define dev_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitfield.h>
#include <linux/err.h>
#include <linux/pci.h>

#include "decode/targets.h"
#include "device_info.h"
#include "gpu.h"
#include "hw/ctxsw.h"
#include "instances.h"
#include "memory.h"
#include "nvdebug_trace.h"
#include "preemption.h"
#include "proc.h"
#include "report.h"
#include "resolve.h"

static const char * const mode_words[] = {
	[NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS_CONTROL_WFI] = "wfi",
	[NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS_CONTROL_CTA] = "cta",
	[NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS_CONTROL_CILP] = "cilp",
};

struct request {
	struct nvdebug_gpu *gpu;
	struct nvdebug_target target;
	u32 mode;
	struct nvdebug_runlist *runlist;
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

static int read_word(struct nvdebug_mem *mem, const struct nvdebug_image *image,
		     u32 number, u32 *word)
{
	struct nvdebug_mem_request req = {
		.addr = image->addr + number * sizeof(u32),
		.aperture = image->aperture,
		.words = 1,
		.buf = word,
	};

	return nvdebug_mem_read(mem, &req);
}

static int write_mode(struct request *req, struct nvdebug_mem *mem,
		      const struct nvdebug_image *image)
{
	const u32 number = NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS;
	const u32 mask = NV_CTXSW_MAIN_IMAGE_COMPUTE_PREEMPTION_OPTIONS_CONTROL;
	u64 addr = image->addr + number * sizeof(u32);
	u32 word, magic, old;
	int ret;

	ret = read_word(mem, image, number, &word);
	/* still a context? the write would spoil anything else */
	if (!ret)
		ret = read_word(mem, image, NV_CTXSW_MAIN_IMAGE_MAGIC_VALUE,
				&magic);
	if (ret)
		return ret;
	if (magic != NV_CTXSW_MAIN_IMAGE_MAGIC_VALUE_V_VALUE)
		return -EBUSY;

	word = (word & ~mask) | FIELD_PREP(mask, req->mode);
	ret = nvdebug_mem_write(mem, image->aperture, addr, word, &old);
	if (!ret)
		trace_preemption_mode(&req->gpu->pdev->dev, req->runlist->id,
				      req->target.id, addr, old, word);
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
	return write_mode(req, mem, image);
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

static int set_preemption_mode(struct nvdebug_gpu *gpu, const char *text,
			       size_t len, struct seq_buf *answer)
{
	struct request req = { .gpu = gpu };
	struct nvdebug_report report;
	int ret;

	ret = request_parse(&req, text, len);
	if (ret)
		return ret;
	ret = nvdebug_gpu_begin(gpu);
	if (ret)
		return ret;
	ret = request_run(&req);
	nvdebug_gpu_end(gpu);
	if (ret)
		return ret;

	nvdebug_report_begin(&report);
	nvdebug_report_item(&report, "%u:%u %s", req.runlist->id, req.target.id,
			    mode_words[req.mode]);
	nvdebug_report_end(&report, gpu, "set the preemption mode of",
			   "channel");
	return 0;
}

const struct nvdebug_control nvdebug_preemption_mode_control = {
	.text_max = NVDEBUG_TARGETS_TEXT_MAX,
	.changes = true,
	.act = set_preemption_mode,
};
