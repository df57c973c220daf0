// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/kernel.h>

#include "chips/chips.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "probe/modes.h"

const char *nvdebug_mode_name(enum nvdebug_mode mode)
{
	static const char * const name[] = {
		[NVDEBUG_MODE_NONE] = "-",
		[NVDEBUG_MODE_UNKNOWN] = "unknown",
		[NVDEBUG_MODE_OFF] = "off",
		[NVDEBUG_MODE_ON] = "on",
	};

	return name[mode];
}

static void expect_mode(struct nvdebug_gpu *gpu,
			const struct nvdebug_mode_ops *ops)
{
	size_t i;

	for (i = 0; ops && i < ARRAY_SIZE(ops->bit) && ops->bit[i].reg; i++)
		nvdebug_reg_expect(gpu, ops->bit[i].reg);
}

/*
 * Read a mode. It is on if any bit is set, off if all bits are clear, and
 * unknown if a register does not answer.
 */
static enum nvdebug_mode read_mode(struct nvdebug_gpu *gpu,
				   const struct nvdebug_mode_ops *ops)
{
	enum nvdebug_mode mode = NVDEBUG_MODE_OFF;
	size_t i;
	u32 word;

	if (!ops)
		return NVDEBUG_MODE_NONE;
	for (i = 0; i < ARRAY_SIZE(ops->bit) && ops->bit[i].reg; i++) {
		if (nvdebug_reg_read(gpu, ops->bit[i].reg, &word))
			mode = NVDEBUG_MODE_UNKNOWN;
		else if (word & ops->bit[i].on)
			return NVDEBUG_MODE_ON;
	}
	return mode;
}

const char *nvdebug_modes_read(struct nvdebug_gpu *gpu,
			       struct nvdebug_modes *modes)
{
	expect_mode(gpu, gpu->chip->mig);
	expect_mode(gpu, gpu->chip->cc);
	modes->mig = read_mode(gpu, gpu->chip->mig);
	modes->cc = read_mode(gpu, gpu->chip->cc);
	if (modes->cc == NVDEBUG_MODE_ON)
		return "confidential computing is on";
	return modes->mig == NVDEBUG_MODE_ON ? "MIG is on" : NULL;
}
