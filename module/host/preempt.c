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
 * Read, modify and write the gate once. Up to Turing one register has the gates
 * of all runlists, and a driver may modify it at the same time. So the time
 * between read and write is kept short.
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
	/* A register with this gate only can be written without the read. */
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

/* Attempts while another CPU writes the register. */
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
					      "SCHED_DISABLE is 0x%08x after 0x%08x was written: modified concurrently\n",
					      now, new);
		if (!((now ^ new) & bit))
			return 0;
		/*
		 * No other CPU wrote the register: the gate itself does not
		 * change.
		 */
		if (!((now ^ new) & ~bit))
			break;
	}
	return -EIO;
}

#define PENDING		(NV_RUNLIST_PREEMPT_TSG_PREEMPT_PENDING | \
			 NV_RUNLIST_PREEMPT_RUNLIST_PREEMPT_PENDING)

/* The preempts to wait for, as pending bits in a register. */
struct preempt_wait {
	u32 reg;
	u32 pending;	/* mask of the bits */
};

static int preempt_is_done(struct nvdebug_gpu *gpu, const void *what)
{
	const struct preempt_wait *preempt = what;
	u32 value;
	int ret = nvdebug_reg_read(gpu, preempt->reg, &value);

	return ret ? ret : !(value & preempt->pending);
}

/*
 * Wait for a preempt in progress, then write @word to start one. @tsg is -1 for
 * a preempt of a runlist.
 */
static int preempt_start(struct nvdebug_gpu *gpu,
			 const struct nvdebug_runlist *runlist, int tsg,
			 const struct preempt_wait *preempt, u32 word)
{
	u32 old;
	int ret;

	lockdep_assert_held(&gpu->lock);
	ret = nvdebug_await(gpu, preempt_is_done, preempt);
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

/* The TSG that PBDMAs and engines are polled for. */
struct tsg_watch {
	const struct nvdebug_runlist *runlist;
	u32 tsg;
};

static bool tsg_matches(const void *data, bool is_tsg, u32 id)
{
	const struct tsg_watch *watch = data;

	return is_tsg && id == watch->tsg;
}

static int tsg_is_off(struct nvdebug_gpu *gpu, const void *what)
{
	const struct tsg_watch *watch = what;
	int ret = nvdebug_runlist_occupied(gpu, watch->runlist, tsg_matches,
					   watch);

	return ret < 0 ? ret : !ret;
}

static int preempt_tsg_and_wait(struct nvdebug_gpu *gpu,
				const struct tsg_watch *watch,
				const struct preempt_wait *preempt, u32 word)
{
	u32 pending = gpu->chip->preempt->tsg_pending;
	const struct preempt_wait done = { preempt->reg, pending };
	int ret;

	ret = preempt_start(gpu, watch->runlist, watch->tsg, preempt, word);
	if (!ret && gpu->chip->preempt->tsg_watched)
		ret = nvdebug_await(gpu, tsg_is_off, watch);
	if (!ret)
		ret = nvdebug_await(gpu, preempt_is_done, &done);
	return ret;
}

int nvdebug_preempt_tsg(struct nvdebug_gpu *gpu,
			const struct nvdebug_runlist *runlist, u32 tsg)
{
	const struct nvdebug_preempt_ops *ops = gpu->chip->preempt;
	const struct tsg_watch watch = { runlist, tsg };
	const struct preempt_wait preempt = {
		.reg = runlist->base + ops->tsg,
		.pending = ops->shared ? ops->tsg_pending : PENDING,
	};
	u32 word = NV_PFIFO_PREEMPT_TYPE_TSG |
		   FIELD_PREP(NV_PFIFO_PREEMPT_ID, tsg);
	bool was_open = false;
	int ret;

	lockdep_assert_held(&gpu->lock);
	if (!ops->tsg_watched)
		return preempt_tsg_and_wait(gpu, &watch, &preempt, word);

	/*
	 * The gate is one bit, which does not show who closed it. If a driver
	 * closes it during this preempt, the gate is open again afterwards. So
	 * it is closed only for the time of this preempt.
	 */
	ret = nvdebug_await(gpu, preempt_is_done, &preempt);
	if (!ret)
		ret = nvdebug_gate_set(gpu, runlist, false, &was_open);
	if (!ret)
		ret = preempt_tsg_and_wait(gpu, &watch, &preempt, word);
	if (was_open) {
		int error = nvdebug_gate_set(gpu, runlist, true, NULL);

		if (error)
			nvdebug_err_ratelimit(gpu,
					      "runlist %u: failed to restore scheduling (%d)\n",
					      runlist->id, error);
		ret = ret ? ret : error;
	}
	return ret;
}

int nvdebug_preempt_runlist(struct nvdebug_gpu *gpu,
			    const struct nvdebug_runlist *runlist)
{
	const struct nvdebug_preempt_ops *ops = gpu->chip->preempt;
	struct preempt_wait preempt = {
		.reg = runlist->base + ops->runlist,
		/*
		 * The manual has the pending bit in bit 21 (RUNLIST), nouveau
		 * in bit 20 (drm/nouveau/nvkm/engine/fifo/ga100.c): both must
		 * be clear.
		 */
		.pending = ops->shared ? BIT(runlist->id) : PENDING,
	};
	int ret;

	if (!ops->runlist)
		return nvdebug_submit_again(gpu, runlist);

	/* In the register of a single runlist 0 means the runlist. */
	ret = preempt_start(gpu, runlist, -1, &preempt,
			    ops->shared ? BIT(runlist->id) : 0);
	return ret ? ret : nvdebug_await(gpu, preempt_is_done, &preempt);
}
