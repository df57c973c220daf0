/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The PRAMIN window: 1 MiB of BAR0 that shows GPU memory, Kepler to Ada.
 *
 * Sources: open-gpu-doc manuals/{volta/gv100,turing/tu104,ampere/ga100}/
 * dev_bus.ref.txt and dev_ram.ref.txt.
 */
#ifndef NVDEBUG_HW_PBUS_H
#define NVDEBUG_HW_PBUS_H

#include <linux/bits.h>

#define NV_PBUS_BAR0_WINDOW			0x00001700 /* RW */
#define  NV_PBUS_BAR0_WINDOW_BASE		GENMASK(23, 0) /* >> 16 */
#define  NV_PBUS_BAR0_WINDOW_BASE_SHIFT		16
#define  NV_PBUS_BAR0_WINDOW_TARGET		GENMASK(25, 24)

#define NV_PRAMIN				0x00700000 /* RW */
#define NV_PRAMIN_SIZE				0x00100000

#endif
