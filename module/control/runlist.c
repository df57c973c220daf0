// SPDX-License-Identifier: MIT OR GPL-2.0
/* The controls preempt_runlist, resubmit_runlist and scheduling. */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "control/controls.h"
#include "control/report.h"
#include "core/control.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "core/view.h"
#include "decode/targets.h"
#include "host/override_list.h"
#include "host/preempt.h"

/* A runlist to change. */
struct runlist_order {
	struct nvdebug_runlist *runlist;
	bool open;	/* scheduling: new state of the gate */
	bool was;	/* scheduling: previous state */
};

/* All changes of a request, in its order. */
struct runlist_orders {
	struct nvdebug_undo undo;
	u32 count;
	struct runlist_order order[NVDEBUG_TARGETS_MAX];
};

static const char * const gate_words[] = { "off", "on" };

/* Parse and check "RUNLIST ..." or, @with_word, "RUNLIST on|off ...". */
static int orders_parse(struct runlist_orders *orders, struct nvdebug_gpu *gpu,
			const char *text, size_t len, bool with_word)
{
	struct nvdebug_cursor cur = { text, text + len };
	struct nvdebug_target target;
	struct runlist_order *order;
	int ret;

	while (nvdebug_cursor_more(&cur)) {
		if (orders->count == NVDEBUG_TARGETS_MAX)
			return -E2BIG;
		order = &orders->order[orders->count++];
		ret = nvdebug_cursor_target(&cur, &target);
		if (ret)
			return ret;
		order->runlist = nvdebug_runlist_find(&gpu->topology, target.id);
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
	return orders->count ? 0 : -EINVAL;
}

/*
 * Execute the orders one by one. If an order fails, @undo reverts it and the
 * orders before it; without @undo those before it stay done. The lock is taken
 * for each order, because an order may last seconds.
 */
static int orders_apply(struct runlist_orders *orders, struct nvdebug_gpu *gpu,
			int (*act)(struct nvdebug_gpu *gpu,
				   struct runlist_order *order),
			bool (*undo)(struct nvdebug_gpu *gpu,
				     const struct runlist_order *order))
{
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < orders->count; i++) {
		ret = i ? nvdebug_gpu_check_stop(gpu) : 0;
		if (!ret)
			ret = mutex_lock_killable(&gpu->lock);
		if (ret)
			break;
		ret = act(gpu, &orders->order[i]);
		mutex_unlock(&gpu->lock);
	}
	/* The last order comes first, since a runlist may be named twice. */
	while (ret && undo && i--) {
		mutex_lock(&gpu->lock);
		undo(gpu, &orders->order[i]);
		mutex_unlock(&gpu->lock);
	}
	return ret;
}

static int resubmit_one(struct nvdebug_gpu *gpu, struct runlist_order *order)
{
	return nvdebug_override_resubmit(gpu, order->runlist);
}

static int preempt_one(struct nvdebug_gpu *gpu, struct runlist_order *order)
{
	return nvdebug_preempt_runlist(gpu, order->runlist);
}

static int gate_one(struct nvdebug_gpu *gpu, struct runlist_order *order)
{
	order->was = order->open;
	return nvdebug_gate_set(gpu, order->runlist, order->open, &order->was);
}

/*
 * Restore the gate if it is still in the state that was set. Returns true if it
 * was restored.
 */
static bool gate_restore_one(struct nvdebug_gpu *gpu,
			     const struct runlist_order *order)
{
	bool is;

	lockdep_assert_held(&gpu->lock);
	if (order->was == order->open)
		return false;
	/* A gate that cannot be read may still be writable. */
	if (!nvdebug_gate_read(gpu, order->runlist, &is) && is != order->open)
		return false;
	if (!nvdebug_gate_set(gpu, order->runlist, order->was, NULL))
		return true;
	nvdebug_err_ratelimit(gpu, "runlist %u: failed to restore scheduling\n",
			      order->runlist->id);
	return false;
}

static void gates_lease_over(struct nvdebug_gpu *gpu, struct nvdebug_undo *undo)
{
	struct runlist_orders *orders =
		container_of(undo, struct runlist_orders, undo);
	struct nvdebug_report report;
	u32 i;

	nvdebug_report_begin(&report);
	mutex_lock(&gpu->lock);
	for (i = orders->count; i--;)
		if (gate_restore_one(gpu, &orders->order[i]))
			nvdebug_report_item(&report, "%u %s",
					    orders->order[i].runlist->id,
					    gate_words[orders->order[i].was]);
	mutex_unlock(&gpu->lock);
	nvdebug_report_end(&report, gpu, "lease over: set scheduling of",
			   "runlist");
}

/* The differences between the files. */
struct runlist_control_kind {
	bool with_word;
	int (*act)(struct nvdebug_gpu *gpu, struct runlist_order *order);
	bool (*undo)(struct nvdebug_gpu *gpu,
		     const struct runlist_order *order);
	void (*lease_over)(struct nvdebug_gpu *gpu, struct nvdebug_undo *undo);
	const char *did;
};

static int orders_run(struct runlist_orders *orders, struct nvdebug_gpu *gpu,
		      const struct runlist_control_kind *kind, const char *text,
		      size_t len)
{
	struct nvdebug_report report;
	u32 i;
	int ret;

	ret = orders_parse(orders, gpu, text, len, kind->with_word);
	if (ret)
		return ret;
	ret = nvdebug_gpu_begin(gpu);
	if (ret)
		return ret;
	ret = orders_apply(orders, gpu, kind->act, kind->undo);
	nvdebug_gpu_end(gpu);
	if (ret)
		return ret;

	nvdebug_report_begin(&report);
	for (i = 0; i < orders->count; i++) {
		const struct runlist_order *order = &orders->order[i];

		if (kind->with_word)
			nvdebug_report_item(&report, "%u %s", order->runlist->id,
					    gate_words[order->open]);
		else
			nvdebug_report_item(&report, "%u", order->runlist->id);
	}
	nvdebug_report_end(&report, gpu, kind->did, "runlist");
	return 0;
}

static int runlist_control(struct nvdebug_gpu *gpu,
			   const struct runlist_control_kind *kind,
			   const char *text, size_t len,
			   struct nvdebug_undo **undo)
{
	struct runlist_orders *orders =
		kvzalloc(sizeof(*orders), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!orders)
		return -ENOMEM;
	ret = orders_run(orders, gpu, kind, text, len);
	if (!ret && undo) {
		orders->undo.run = kind->lease_over;
		*undo = &orders->undo;
		return 0;
	}
	kvfree(orders);
	return ret;
}

static int preempt_runlist(struct nvdebug_gpu *gpu, const char *text,
			   size_t len, struct seq_buf *answer,
			   struct nvdebug_undo **undo)
{
	static const struct runlist_control_kind kind = {
		.act = preempt_one,
		.did = "preempted",
	};

	return runlist_control(gpu, &kind, text, len, undo);
}

static int resubmit_runlist(struct nvdebug_gpu *gpu, const char *text,
			    size_t len, struct seq_buf *answer,
			    struct nvdebug_undo **undo)
{
	static const struct runlist_control_kind kind = {
		.act = resubmit_one,
		.did = "resubmitted",
	};

	return runlist_control(gpu, &kind, text, len, undo);
}

static int set_scheduling(struct nvdebug_gpu *gpu, const char *text,
			  size_t len, struct seq_buf *answer,
			  struct nvdebug_undo **undo)
{
	static const struct runlist_control_kind kind = {
		.with_word = true,
		.act = gate_one,
		.undo = gate_restore_one,
		.lease_over = gates_lease_over,
		.did = "set scheduling of",
	};

	return runlist_control(gpu, &kind, text, len, undo);
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
	.leases = true,
	.act = set_scheduling,
};

/* The state of a gate. */
struct gate_state {
	bool readable;
	bool open;
};

/* The states of all gates. */
struct scheduling_snapshot {
	struct nvdebug_snapshot base;
	struct gate_state gate[];
};

static struct nvdebug_snapshot *scheduling_take(struct nvdebug_gpu *gpu, u32 id)
{
	const struct nvdebug_topology *topology = &gpu->topology;
	struct scheduling_snapshot *s;
	u32 i;
	int ret;

	s = kzalloc(struct_size(s, gate, topology->runlists), GFP_KERNEL);
	if (!s)
		return ERR_PTR(-ENOMEM);
	s->base.records = topology->runlists + 1;
	for (i = 0; i < topology->runlists; i++) {
		ret = nvdebug_gate_read(gpu, &topology->runlist[i],
					&s->gate[i].open);
		s->gate[i].readable = !ret;
		/* After another error the other gates may be readable. */
		if (ret == -ENODEV) {
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
	const struct gate_state *gate;

	if (!record) {
		seq_puts(m, "# runlist scheduling\n");
		return;
	}
	gate = &s->gate[record - 1];
	seq_printf(m, "%u %s\n", gpu->topology.runlist[record - 1].id,
		   gate->readable ? gate_words[gate->open] : "unreadable");
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
