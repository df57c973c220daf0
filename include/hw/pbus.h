/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The PRAMIN window: 1 MiB of BAR0 that shows GPU memory.
 *
 * Sources: open-gpu-doc manuals/{volta/gv100,turing/tu104,ampere/ga100}/
 * dev_bus.ref.txt and dev_ram.ref.txt; from Hopper on open-gpu-kernel-modules
 * src/common/inc/swref/published/{hopper/gh100,blackwell/gb100}/
 * dev_nv_xal_ep_zb.h, whose block is at 0x10f000.
 */
#ifndef NVDEBUG_HW_PBUS_H
#define NVDEBUG_HW_PBUS_H

#include <linux/bits.h>

/* The register up to Ada. */
#define NV_PBUS_BAR0_WINDOW			0x00001700 /* RW */
#define  NV_PBUS_BAR0_WINDOW_BASE		GENMASK(23, 0) /* >> 16 */
#define  NV_PBUS_BAR0_WINDOW_TARGET		GENMASK(25, 24)

/* The register from Hopper on, where the window always shows video memory. */
#define NV_XAL_EP_BAR0_WINDOW			0x0010fd40 /* RW */
#define  NV_XAL_EP_BAR0_WINDOW_BASE_GH100	GENMASK(21, 0) /* >> 16 */
#define  NV_XAL_EP_BAR0_WINDOW_BASE_GB100	GENMASK(22, 0) /* >> 16 */

#define NV_BAR0_WINDOW_BASE_SHIFT		16

#define NV_PRAMIN				0x00700000 /* RW */
#define NV_PRAMIN_SIZE				0x00100000

#endif
