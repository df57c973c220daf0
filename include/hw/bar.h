/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What BAR1 and BAR2 show: video memory from 0, or the address space of an
 * instance block. All in BAR0 of the physical function.
 *
 * Sources: open-gpu-doc manuals/volta/gv100/dev_bus.ref.txt,
 * manuals/{turing/tu104,ampere/ga100}/dev_vm.ref.txt; open-gpu-kernel-modules
 * src/common/inc/swref/published/{maxwell/gm107/dev_bus.h,
 * turing/tu102/dev_vm.h,hopper/gh100/dev_vm.h,blackwell/gb100/dev_vm.h}.
 */
#ifndef NVDEBUG_HW_BAR_H
#define NVDEBUG_HW_BAR_H

#include <linux/bits.h>

/*
 * One register per BAR, and one with bits for a change under way. The same bits
 * in PBUS, up to Volta, and in the space of virtual functions, from Turing to
 * Ada.
 */
#define NV_PBUS_BAR1_BLOCK			0x00001704 /* RW */
#define NV_PBUS_BAR2_BLOCK			0x00001714 /* RW */
#define NV_PBUS_BIND_STATUS			0x00001710 /* R- */
#define NV_VF_BAR1_BLOCK			0x00b80f40 /* RW */
#define NV_VF_BAR2_BLOCK			0x00b80f48 /* RW */
#define NV_VF_BIND_STATUS			0x00b80f50 /* R- */

#define NV_BAR_BLOCK_PTR			GENMASK(27, 0) /* >> 12 */
#define NV_BAR_BLOCK_TARGET			GENMASK(29, 28) /* NV_APERTURE_* */
/*
 * BAR2 only: the upper half is left to the VBIOS, not translated. What that
 * means for a reader is inferred from nouveau, which uses half of it then.
 */
#define NV_BAR_BLOCK_DEBUG_CYA_OFF		BIT(30)
#define NV_BAR_BLOCK_MODE_VIRTUAL		BIT(31)
#define NV_BIND_STATUS_BAR1			GENMASK(1, 0) /* pending, outstanding */
#define NV_BIND_STATUS_BAR2			GENMASK(3, 2)

/* A pair of registers per BAR: Hopper and Blackwell. */
#define NV_VF_FUNC_BAR1_BLOCK_LOW		0x00b80f60 /* RW */
#define NV_VF_FUNC_BAR1_BLOCK_HIGH		0x00b80f64 /* RW */
#define NV_VF_FUNC_BAR2_BLOCK_LOW		0x00b80f70 /* RW */
#define NV_VF_FUNC_BAR2_BLOCK_HIGH		0x00b80f74 /* RW */
#define  NV_VF_FUNC_BAR_BLOCK_LOW_BUSY		GENMASK(1, 0) /* pending, outstanding */
#define  NV_VF_FUNC_BAR_BLOCK_LOW_MODE_VIRTUAL	BIT(9)
#define  NV_VF_FUNC_BAR_BLOCK_LOW_TARGET	GENMASK(11, 10) /* NV_APERTURE_* */
#define  NV_VF_FUNC_BAR_BLOCK_LOW_PTR		GENMASK(31, 12) /* in place */
/* of BAR1 all bits are; an instance block is below that in any case */
#define  NV_VF_FUNC_BAR_BLOCK_HIGH_PTR		GENMASK(19, 0)

#endif
