/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The GPU's clock.
 */
#ifndef NVDEBUG_PTIMER_H
#define NVDEBUG_PTIMER_H

#include <linux/types.h>

struct nvdebug_gpu;

extern const struct nvdebug_view nvdebug_ptimer_view;

bool nvdebug_ptimer_exists(const struct nvdebug_gpu *gpu);

#endif
