// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Controls of runlists: from the text of a request to runlists, then to
 * registers.
 */
#define dev_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/pci.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "decode/targets.h"
#include "gpu.h"
#include "own_list.h"
#include "preempt.h"
#include "proc.h"
#include "report.h"
#include "runlist_control.h"

/* Something to do to a runlist. */
struct order {
	struct nvdebug_runlist *runlist;
	bool open;	/* scheduling: which way to set the gate */
	bool was;	/* and which way it was */
};

struct request {
	struct nvdebug_gpu *gpu;
	struct order *order;
	u32 count;
};

static const char * const gate_words[] = { "off", "on" };

/* Parse "RUNLIST ..." or, @with_word, "RUNLIST on|off ...", and check it. */
static int request_parse(struct request *req, const char *text, size_t len,
			 bool with_word)
{
	struct nvdebug_cursor cur = { text, text + len };
	struct nvdebug_target target;
	struct order *order;
	int ret;

	req->order = kcalloc(NVDEBUG_TARGETS_MAX, sizeof(*req->order),
			     GFP_KERNEL);
	if (!req->order)
		return -ENOMEM;

	while (nvdebug_cursor_more(&cur)) {
		if (req->count == NVDEBUG_TARGETS_MAX)
			return -E2BIG;
		order = &req->order[req->count++];
		ret = nvdebug_cursor_target(&cur, &target);
		if (ret)
			return ret;
		order->runlist = nvdebug_runlist_find(req->gpu, target.id);
		if (target.has_runlist || !order->runlist)
			return -EINVAL;
		if (!with_word)
			continue;
		nvdebug_cursor_more(&cur);
		ret = nvdebug_cursor_choice(&cur, gate_words,
					    ARRAY_SIZE(gate_words));
		if (ret < 0)
			return ret;
		order->open = ret;
	}
	return req->count ? 0 : -EINVAL;
}

/*
 * Follow the orders one by one. Those before one that fails stay done, unless
 * @undo takes them back, with the one that failed.
 */
static int request_apply(struct request *req,
			 int (*act)(struct nvdebug_gpu *gpu,
				    struct order *order),
			 void (*undo)(struct nvdebug_gpu *gpu,
				      const struct order *order))
{
	struct nvdebug_gpu *gpu = req->gpu;
	int ret = 0;
	u32 i;

	if (mutex_lock_killable(&gpu->lock))
		return -EINTR;
	for (i = 0; !ret && i < req->count; i++)
		ret = act(gpu, &req->order[i]);
	/* the last one first, since a runlist may be named twice */
	while (ret && undo && i--)
		undo(gpu, &req->order[i]);
	mutex_unlock(&gpu->lock);
	return ret;
}

static int resubmit_one(struct nvdebug_gpu *gpu, struct order *order)
{
	return nvdebug_own_list_resubmit(gpu, order->runlist);
}

static int preempt_one(struct nvdebug_gpu *gpu, struct order *order)
{
	return nvdebug_preempt_runlist(gpu, order->runlist);
}

static int gate_one(struct nvdebug_gpu *gpu, struct order *order)
{
	order->was = order->open;
	return nvdebug_gate_set(gpu, order->runlist, order->open, &order->was);
}

static void gate_back(struct nvdebug_gpu *gpu, const struct order *order)
{
	if (order->was != order->open &&
	    nvdebug_gate_set(gpu, order->runlist, order->was, NULL))
		dev_err(&gpu->pdev->dev, "scheduling of runlist %u did not go back\n",
			order->runlist->id);
}

/* What differs between the files. */
struct kind {
	bool with_word;
	int (*act)(struct nvdebug_gpu *gpu, struct order *order);
	void (*undo)(struct nvdebug_gpu *gpu, const struct order *order);
	const char *did;
};

static int request_run(struct request *req, const struct kind *kind,
		       const char *text, size_t len)
{
	struct nvdebug_gpu *gpu = req->gpu;
	struct nvdebug_report report;
	u32 i;
	int ret;

	ret = request_parse(req, text, len, kind->with_word);
	if (ret)
		return ret;
	ret = nvdebug_gpu_begin(gpu);
	if (ret)
		return ret;
	ret = request_apply(req, kind->act, kind->undo);
	nvdebug_gpu_end(gpu);
	if (ret)
		return ret;

	nvdebug_report_begin(&report);
	for (i = 0; i < req->count; i++) {
		const struct order *order = &req->order[i];

		if (kind->with_word)
			nvdebug_report_item(&report, "%u %s", order->runlist->id,
					    gate_words[order->open]);
		else
			nvdebug_report_item(&report, "%u", order->runlist->id);
	}
	nvdebug_report_end(&report, gpu, kind->did, "runlist");
	return 0;
}

static int runlist_control(struct nvdebug_gpu *gpu, const struct kind *kind,
			   const char *text, size_t len)
{
	struct request req = { .gpu = gpu };
	int ret = request_run(&req, kind, text, len);

	kfree(req.order);
	return ret;
}

static int preempt_runlist(struct nvdebug_gpu *gpu, const char *text,
			   size_t len, struct seq_buf *answer)
{
	static const struct kind kind = {
		.act = preempt_one,
		.did = "preempted",
	};

	return runlist_control(gpu, &kind, text, len);
}

static int resubmit_runlist(struct nvdebug_gpu *gpu, const char *text,
			    size_t len, struct seq_buf *answer)
{
	static const struct kind kind = {
		.act = resubmit_one,
		.did = "resubmitted",
	};

	return runlist_control(gpu, &kind, text, len);
}

static int set_scheduling(struct nvdebug_gpu *gpu, const char *text,
			  size_t len, struct seq_buf *answer)
{
	static const struct kind kind = {
		.with_word = true,
		.act = gate_one,
		.undo = gate_back,
		.did = "set scheduling of",
	};

	return runlist_control(gpu, &kind, text, len);
}

const struct nvdebug_control nvdebug_preempt_runlist_control = {
	.text_max = NVDEBUG_TARGETS_TEXT_MAX,
	.changes = true,
	.act = preempt_runlist,
};

const struct nvdebug_control nvdebug_resubmit_runlist_control = {
	.text_max = NVDEBUG_TARGETS_TEXT_MAX,
	.changes = true,
	.act = resubmit_runlist,
};

const struct nvdebug_control nvdebug_scheduling_control = {
	.text_max = NVDEBUG_TARGETS_TEXT_MAX,
	.changes = true,
	.act = set_scheduling,
};

/* Which runlists may be scheduled from. */
struct scheduling_snapshot {
	struct nvdebug_snapshot base;
	bool open[];
};

static struct nvdebug_snapshot *scheduling_take(struct nvdebug_gpu *gpu, u32 id)
{
	const struct nvdebug_topology *topology = &gpu->topology;
	struct scheduling_snapshot *s;
	u32 i;
	int ret;

	s = kzalloc(struct_size(s, open, topology->runlists), GFP_KERNEL);
	if (!s)
		return ERR_PTR(-ENOMEM);
	s->base.records = topology->runlists + 1;
	for (i = 0; i < topology->runlists; i++) {
		ret = nvdebug_gate_read(gpu, &topology->runlist[i], &s->open[i]);
		if (ret) {
			kfree(s);
			return ERR_PTR(ret);
		}
	}
	return &s->base;
}

static void scheduling_show(struct seq_file *m, struct nvdebug_gpu *gpu,
			    const struct nvdebug_snapshot *base, size_t record)
{
	const struct scheduling_snapshot *s =
		container_of(base, struct scheduling_snapshot, base);

	if (!record)
		seq_puts(m, "# runlist scheduling\n");
	else
		seq_printf(m, "%u %s\n", gpu->topology.runlist[record - 1].id,
			   gate_words[s->open[record - 1]]);
}

static void scheduling_free(struct nvdebug_snapshot *base)
{
	kfree(container_of(base, struct scheduling_snapshot, base));
}

const struct nvdebug_view nvdebug_scheduling_view = {
	.live = true,
	.take = scheduling_take,
	.show = scheduling_show,
	.free = scheduling_free,
};
