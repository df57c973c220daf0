/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The registers of BAR1 and BAR2. A BAR shows video memory from 0, or the
 * address space of an instance block. All are in BAR0 of the physical function.
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
 * Each BAR has a register, and a third register has bits for a change under
 * way. The bits are the same in PBUS, up to Volta, and in the space of virtual
 * functions, from Turing to Ada.
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
 * BAR2 only: the upper half is left to the VBIOS, not translated. The meaning
 * for a reader is inferred from nouveau, which then uses half of BAR2.
 */
#define NV_BAR_BLOCK_DEBUG_CYA_OFF		BIT(30)
#define NV_BAR_BLOCK_MODE_VIRTUAL		BIT(31)
#define NV_BIND_STATUS_BAR1			GENMASK(1, 0) /* pending, outstanding */
#define NV_BIND_STATUS_BAR2			GENMASK(3, 2)

/* Hopper and Blackwell have a pair of registers for each BAR. */
#define NV_VF_FUNC_BAR1_BLOCK_LOW		0x00b80f60 /* RW */
#define NV_VF_FUNC_BAR1_BLOCK_HIGH		0x00b80f64 /* RW */
#define NV_VF_FUNC_BAR2_BLOCK_LOW		0x00b80f70 /* RW */
#define NV_VF_FUNC_BAR2_BLOCK_HIGH		0x00b80f74 /* RW */
#define  NV_VF_FUNC_BAR_BLOCK_LOW_BUSY		GENMASK(1, 0) /* pending, outstanding */
#define  NV_VF_FUNC_BAR_BLOCK_LOW_MODE_VIRTUAL	BIT(9)
#define  NV_VF_FUNC_BAR_BLOCK_LOW_TARGET	GENMASK(11, 10) /* NV_APERTURE_* */
#define  NV_VF_FUNC_BAR_BLOCK_LOW_PTR		GENMASK(31, 12) /* in place */
/*
 * In BAR1's register all 32 bits are the pointer. An instance block is below
 * 2^52 in any case, so the mask of BAR2's serves both.
 */
#define  NV_VF_FUNC_BAR_BLOCK_HIGH_PTR		GENMASK(19, 0)

#endif
