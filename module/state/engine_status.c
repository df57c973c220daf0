// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/errno.h>

#include "chips/chips.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "decode/engine_status.h"
#include "state/engine_status.h"

int nvdebug_engine_status_read(struct nvdebug_gpu *gpu,
			       const struct nvdebug_engine *engine,
			       struct nvdebug_engine_status *status)
{
	const struct nvdebug_status_ops *ops = gpu->chip->status;
	u32 reg = ops->engine_reg(gpu, engine);
	u32 word;
	int ret;

	if (!reg)
		return -EOPNOTSUPP;
	ret = nvdebug_reg_read(gpu, reg, &word);
	if (!ret)
		ops->engine(word, status);
	return ret;
}

int nvdebug_pbdma_status_read(struct nvdebug_gpu *gpu,
			      const struct nvdebug_runlist *runlist, u32 n,
			      struct nvdebug_ctx_status *status)
{
	const struct nvdebug_status_ops *ops = gpu->chip->status;
	u32 word;
	int ret = nvdebug_reg_read(gpu, ops->pbdma_reg(&runlist->pbdma[n]),
				   &word);

	if (!ret)
		ops->pbdma(word, status);
	return ret;
}
