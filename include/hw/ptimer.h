/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * PTIMER: the GPU's clock, in ns. A write of TIME_0 would set it.
 *
 * Sources: open-gpu-kernel-modules src/common/inc/swref/published/
 * kepler/gk104/dev_timer.h; linux-nvgpu include/nvgpu/hw/ga10b/
 * hw_timer_ga10b.h and the same of GB20C have the registers unchanged.
 */
#ifndef NVDEBUG_HW_PTIMER_H
#define NVDEBUG_HW_PTIMER_H

#include <linux/bits.h>

#define NV_PTIMER_TIME_0			0x00009400 /* RW */
#define  NV_PTIMER_TIME_0_NSEC			GENMASK(31, 5) /* in place */
#define NV_PTIMER_TIME_1			0x00009410 /* RW */
#define  NV_PTIMER_TIME_1_NSEC			GENMASK(28, 0) /* << 32 */

#endif
