// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/bitfield.h>
#include <linux/err.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "core/gpu.h"
#include "core/machine.h"
#include "core/view.h"
#include "hw/ptimer.h"
#include "views/views.h"

/* TIME_1 changes every 4.3 s: two changes in a row are impossible. */
#define READ_TRIES	3

struct ptimer_snapshot {
	struct nvdebug_snapshot base;
	u64 ns;
};

bool nvdebug_ptimer_exists(const struct nvdebug_gpu *gpu)
{
	return gpu->chip;
}

static int read_ns(struct nvdebug_gpu *gpu, u64 *ns)
{
	u32 lo, hi, again;
	int tries, ret;

	ret = nvdebug_reg_read(gpu, NV_PTIMER_TIME_1, &hi);
	for (tries = 0; !ret && tries < READ_TRIES; tries++) {
		ret = nvdebug_reg_read_address(gpu, NV_PTIMER_TIME_0,
					       NV_PTIMER_TIME_0_NSEC, &lo);
		if (!ret)
			ret = nvdebug_reg_read(gpu, NV_PTIMER_TIME_1, &again);
		if (!ret && again == hi) {
			*ns = (u64)FIELD_GET(NV_PTIMER_TIME_1_NSEC, hi) << 32 |
			      (lo & NV_PTIMER_TIME_0_NSEC);
			return 0;
		}
		hi = again;
	}
	return ret ? ret : -EIO;
}

static struct nvdebug_snapshot *ptimer_take(struct nvdebug_gpu *gpu, u32 id)
{
	struct ptimer_snapshot *s = kzalloc(sizeof(*s), GFP_KERNEL);
	int ret;

	if (!s)
		return ERR_PTR(-ENOMEM);
	s->base.records = 1;
	ret = read_ns(gpu, &s->ns);
	if (ret) {
		kfree(s);
		return ERR_PTR(ret);
	}
	return &s->base;
}

static void ptimer_free(struct nvdebug_snapshot *base)
{
	kfree(container_of(base, struct ptimer_snapshot, base));
}

static void ptimer_show(struct seq_file *m, struct nvdebug_gpu *gpu,
			const struct nvdebug_snapshot *base, size_t record)
{
	seq_printf(m, "%llu\n",
		   container_of(base, struct ptimer_snapshot, base)->ns);
}

const struct nvdebug_view nvdebug_ptimer_view = {
	.live = true,
	.take = ptimer_take,
	.show = ptimer_show,
	.free = ptimer_free,
};
