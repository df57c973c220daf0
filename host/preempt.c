// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/bitfield.h>
#include <linux/irqflags.h>

#include "chips/chips.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "host/await.h"
#include "host/preempt.h"
#include "host/submit.h"
#include "host/trace.h"
#include "hw/pfifo.h"
#include "hw/runlist.h"
#include "state/occupancy.h"

static u32 gate_register(const struct nvdebug_gpu *gpu,
			 const struct nvdebug_runlist *runlist)
{
	return runlist->base + gpu->chip->preempt->gate;
}

static u32 gate_bit(const struct nvdebug_gpu *gpu,
		    const struct nvdebug_runlist *runlist)
{
	return gpu->chip->preempt->shared ? BIT(runlist->id) :
					    NV_RUNLIST_SCHED_DISABLE_RUNLIST;
}

int nvdebug_gate_read(struct nvdebug_gpu *gpu,
		      const struct nvdebug_runlist *runlist, bool *open)
{
	u32 value;
	int ret;

	ret = nvdebug_reg_read(gpu, gate_register(gpu, runlist), &value);
	if (!ret)
		*open = !(value & gate_bit(gpu, runlist));
	return ret;
}

/*
 * Write the gate once. Up to Turing one register has those of all runlists, and
 * a driver that changes another at the same moment undoes ours with its write,
 * or we its: so nothing comes between our read and our write on this CPU.
 */
static int gate_write(struct nvdebug_gpu *gpu,
		      const struct nvdebug_runlist *runlist, bool open,
		      u32 *old, u32 *new)
{
	u32 reg = gate_register(gpu, runlist);
	u32 bit = gate_bit(gpu, runlist);
	unsigned long flags;
	int ret;

	local_irq_save(flags);
	ret = nvdebug_reg_read(gpu, reg, old);
	/* a gate of its own is opened all the same: nothing else is in there */
	if (ret && open && !gpu->chip->preempt->shared) {
		*old = bit;
		ret = 0;
	}
	*new = open ? *old & ~bit : *old | bit;
	if (!ret)
		nvdebug_reg_write(gpu, reg, *new);
	local_irq_restore(flags);
	if (!ret)
		trace_scheduling(gpu, runlist->id, -1, reg, *old, *new);
	return ret;
}

/* How often, if somebody else writes the register at the same moment. */
#define GATE_TRIES	3

int nvdebug_gate_set(struct nvdebug_gpu *gpu,
		     const struct nvdebug_runlist *runlist, bool open,
		     bool *was)
{
	u32 bit = gate_bit(gpu, runlist);
	u32 old, new, now;
	int tries, ret;

	lockdep_assert_held(&gpu->lock);
	for (tries = 0; tries < GATE_TRIES; tries++) {
		ret = gate_write(gpu, runlist, open, &old, &new);
		if (ret)
			return ret;
		if (was && !tries)
			*was = !(old & bit);
		ret = nvdebug_reg_read(gpu, gate_register(gpu, runlist), &now);
		if (ret)
			return ret;
		if ((now ^ new) & ~bit)
			nvdebug_err_ratelimit(gpu,
					      "SCHED_DISABLE is 0x%08x after 0x%08x was written: somebody else writes it, too\n",
					      now, new);
		if (!((now ^ new) & bit))
			return 0;
		/* nobody else was there: it does not take it */
		if (!((now ^ new) & ~bit))
			break;
	}
	return -EIO;
}

#define PENDING		(NV_RUNLIST_PREEMPT_TSG_PREEMPT_PENDING | \
			 NV_RUNLIST_PREEMPT_RUNLIST_PREEMPT_PENDING)

/* What is still under way of preempts in a register. */
struct preempt {
	u32 reg;
	u32 pending;	/* mask */
};

static int is_preempted(struct nvdebug_gpu *gpu, const void *what)
{
	const struct preempt *preempt = what;
	u32 value;
	int ret = nvdebug_reg_read(gpu, preempt->reg, &value);

	return ret ? ret : !(value & preempt->pending);
}

/*
 * Write @word, which starts a preempt, once no other one is under way that it
 * would get mixed up with. @tsg is -1 for that of a runlist.
 */
static int start(struct nvdebug_gpu *gpu, const struct nvdebug_runlist *runlist,
		 int tsg, const struct preempt *preempt, u32 word)
{
	u32 old;
	int ret;

	lockdep_assert_held(&gpu->lock);
	ret = nvdebug_await(gpu, is_preempted, preempt);
	if (ret)
		return ret;
	ret = nvdebug_reg_read(gpu, preempt->reg, &old);
	if (ret)
		return ret;
	nvdebug_reg_write(gpu, preempt->reg, word);
	trace_preempt(gpu, runlist->id, tsg, preempt->reg, old,
		      word);
	return 0;
}

/* The TSG to look for on PBDMAs and engines. */
struct watch {
	const struct nvdebug_runlist *runlist;
	u32 tsg;
};

static bool is_watched(const void *who, bool is_tsg, u32 id)
{
	const struct watch *watch = who;

	return is_tsg && id == watch->tsg;
}

static int is_off(struct nvdebug_gpu *gpu, const void *what)
{
	const struct watch *watch = what;
	int ret = nvdebug_runlist_occupied(gpu, watch->runlist, is_watched,
					   watch);

	return ret < 0 ? ret : !ret;
}

static int preempt_watched(struct nvdebug_gpu *gpu, const struct watch *watch,
			   const struct preempt *preempt, u32 word)
{
	u32 pending = gpu->chip->preempt->tsg_pending;
	const struct preempt done = { preempt->reg, pending };
	int ret;

	ret = start(gpu, watch->runlist, watch->tsg, preempt, word);
	if (!ret && gpu->chip->preempt->tsg_watched)
		ret = nvdebug_await(gpu, is_off, watch);
	if (!ret)
		ret = nvdebug_await(gpu, is_preempted, &done);
	return ret;
}

int nvdebug_preempt_tsg(struct nvdebug_gpu *gpu,
			const struct nvdebug_runlist *runlist, u32 tsg)
{
	const struct nvdebug_preempt_ops *ops = gpu->chip->preempt;
	const struct watch watch = { runlist, tsg };
	const struct preempt preempt = {
		.reg = runlist->base + ops->tsg,
		.pending = ops->shared ? ops->tsg_pending : PENDING,
	};
	u32 word = NV_PFIFO_PREEMPT_TYPE_TSG |
		   FIELD_PREP(NV_PFIFO_PREEMPT_ID, tsg);
	bool was_open = false;
	int ret;

	lockdep_assert_held(&gpu->lock);
	if (!ops->tsg_watched)
		return preempt_watched(gpu, &watch, &preempt, word);

	ret = nvdebug_gate_set(gpu, runlist, false, &was_open);
	if (!ret)
		ret = preempt_watched(gpu, &watch, &preempt, word);
	if (was_open) {
		int error = nvdebug_gate_set(gpu, runlist, true, NULL);

		if (error)
			nvdebug_err_ratelimit(gpu,
					      "scheduling of runlist %u did not go on (%d)\n",
					      runlist->id, error);
		ret = ret ? ret : error;
	}
	return ret;
}

int nvdebug_preempt_runlist(struct nvdebug_gpu *gpu,
			    const struct nvdebug_runlist *runlist)
{
	const struct nvdebug_preempt_ops *ops = gpu->chip->preempt;
	struct preempt preempt = {
		.reg = runlist->base + ops->runlist,
		/*
		 * The manual says bit 21 (RUNLIST), nouveau waits for bit 20
		 * (drm/nouveau/nvkm/engine/fifo/ga100.c): both must be clear.
		 */
		.pending = ops->shared ? BIT(runlist->id) : PENDING,
	};
	int ret;

	if (!ops->runlist)
		return nvdebug_submit_again(gpu, runlist);

	/* of its own register the all-zero word is the one for the runlist */
	ret = start(gpu, runlist, -1, &preempt,
		    ops->shared ? BIT(runlist->id) : 0);
	return ret ? ret : nvdebug_await(gpu, is_preempted, &preempt);
}
