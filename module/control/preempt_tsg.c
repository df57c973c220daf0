// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/slab.h>

#include "control/controls.h"
#include "control/report.h"
#include "core/control.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "decode/targets.h"
#include "host/preempt.h"
#include "state/resolve.h"

struct preempt_tsg_request {
	struct nvdebug_gpu *gpu;
	struct nvdebug_resolver resolver;
	struct nvdebug_target *target;
	struct nvdebug_runlist **runlist;	/* the runlist of each target */
	u32 count;
};

static int preempt_tsg_resolve(struct preempt_tsg_request *req)
{
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < req->count; i++)
		ret = nvdebug_resolve_listed(&req->resolver, &req->target[i],
					     &req->runlist[i]);
	return ret;
}

/*
 * Preempt the targets. The lock is taken for each target, because a preempt may
 * last seconds.
 */
static int preempt_tsg_apply(struct preempt_tsg_request *req)
{
	struct nvdebug_gpu *gpu = req->gpu;
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < req->count; i++) {
		ret = i ? nvdebug_gpu_check_stop(gpu) : 0;
		if (!ret)
			ret = mutex_lock_killable(&gpu->lock);
		if (ret)
			break;
		ret = nvdebug_preempt_tsg(gpu, req->runlist[i],
					  req->target[i].id);
		mutex_unlock(&gpu->lock);
	}
	return ret;
}

static int preempt_tsg_run(struct preempt_tsg_request *req, const char *text,
			   size_t len)
{
	struct nvdebug_gpu *gpu = req->gpu;
	struct nvdebug_report report;
	u32 i;
	int ret;

	req->target = kcalloc(NVDEBUG_TARGETS_MAX, sizeof(*req->target),
			      GFP_KERNEL);
	req->runlist = kcalloc(NVDEBUG_TARGETS_MAX, sizeof(*req->runlist),
			       GFP_KERNEL);
	if (!req->target || !req->runlist)
		return -ENOMEM;
	ret = nvdebug_resolver_init(&req->resolver, gpu, NVDEBUG_ENTRY_TSG);
	if (ret)
		return ret;
	ret = nvdebug_targets_parse(text, len, req->target, NVDEBUG_TARGETS_MAX);
	if (ret < 0)
		return ret;
	req->count = ret;

	ret = nvdebug_gpu_begin(gpu);
	if (ret)
		return ret;
	ret = preempt_tsg_resolve(req);
	if (!ret)
		ret = preempt_tsg_apply(req);
	nvdebug_gpu_end(gpu);
	if (ret)
		return ret;

	nvdebug_report_begin(&report);
	for (i = 0; i < req->count; i++)
		nvdebug_report_item(&report, "%u:%u", req->runlist[i]->id,
				    req->target[i].id);
	nvdebug_report_end(&report, gpu, "preempted", "TSG");
	return 0;
}

static int preempt_tsg(struct nvdebug_gpu *gpu, const char *text, size_t len,
		       struct seq_buf *answer, struct nvdebug_undo **undo)
{
	struct preempt_tsg_request req = { .gpu = gpu };
	int ret = preempt_tsg_run(&req, text, len);

	nvdebug_resolver_free(&req.resolver);
	kfree(req.runlist);
	kfree(req.target);
	return ret;
}

const struct nvdebug_control nvdebug_preempt_tsg_control = {
	.text_max = NVDEBUG_TARGETS_TEXT_MAX,
	.changes = true,
	.act = preempt_tsg,
};
