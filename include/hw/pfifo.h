/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * PFIFO and PCCSR: the host scheduler up to Turing. Channel ids are global.
 *
 * Sources: open-gpu-doc manuals/volta/gv100/dev_fifo.ref.txt and
 * manuals/turing/tu104/dev_fifo.ref.txt; for Pascal, which has no manual,
 * linux-nvgpu include/nvgpu/hw/gp106/hw_{fifo,ccsr}_gp106.h and
 * open-gpu-kernel-modules src/common/inc/swref/published/maxwell/gm200/
 * dev_fifo.h (CFG0).
 */
#ifndef NVDEBUG_HW_PFIFO_H
#define NVDEBUG_HW_PFIFO_H

#include <linux/bits.h>

#define NV_PFIFO_CFG0				0x00002004 /* R- */
#define  NV_PFIFO_CFG0_NUM_PBDMA		GENMASK(7, 0)
#define NV_PFIFO_CFG1				0x00002008 /* R-, Volta+ */
#define NV_PFIFO_PBDMA_MAP(i)			(0x00002390 + 4 * (i)) /* R- */
/* The widest chip documented, GV100, has 14; the narrowest, Kepler, 3. */
#define NV_PFIFO_PBDMA_MAP__SIZE_1		14
#define NV_PFIFO_PBDMA_MAP__SIZE_1_GK104	3

/*
 * Registers that submit a list, Kepler to Volta: all runlists share one port.
 */
#define NV_PFIFO_RUNLIST_BASE			0x00002270 /* RW */
#define  NV_PFIFO_RUNLIST_BASE_PTR		GENMASK(27, 0)
#define  NV_PFIFO_RUNLIST_BASE_PTR_SHIFT	12
#define  NV_PFIFO_RUNLIST_BASE_TARGET		GENMASK(29, 28)
#define NV_PFIFO_RUNLIST			0x00002274 /* RW, a write submits */
#define  NV_PFIFO_RUNLIST_LENGTH		GENMASK(15, 0)
#define  NV_PFIFO_RUNLIST_ID			GENMASK(23, 20)

/*
 * The location of runlist i, Kepler to Volta. Host updates these read-only
 * copies when it takes a list.
 */
#define NV_PFIFO_ENG_RUNLIST_BASE(i)		(0x00002280 + 8 * (i)) /* R- */
#define  NV_PFIFO_ENG_RUNLIST_BASE_PTR		GENMASK(27, 0) /* >> 12 */
#define  NV_PFIFO_ENG_RUNLIST_BASE_TARGET	GENMASK(29, 28)
#define NV_PFIFO_ENG_RUNLIST(i)			(0x00002284 + 8 * (i)) /* R- */
#define  NV_PFIFO_ENG_RUNLIST_LENGTH		GENMASK(15, 0)
#define  NV_PFIFO_ENG_RUNLIST_PENDING		BIT(20)

/* The location of runlist i on Turing: the submit registers themselves. */
#define NV_PFIFO_RUNLIST_BASE_LO(i)		(0x00002b00 + 16 * (i)) /* RW */
#define NV_PFIFO_RUNLIST_BASE_HI(i)		(0x00002b04 + 16 * (i)) /* RW */
#define NV_PFIFO_RUNLIST_SUBMIT(i)		(0x00002b08 + 16 * (i)) /* RW */
#define NV_PFIFO_RUNLIST_SUBMIT_INFO(i)		(0x00002b0c + 16 * (i)) /* R- */
#define  NV_PFIFO_RUNLIST_BASE_LO_PTR_LO	GENMASK(31, 12) /* in place */
/*
 * The other fields are the same bits as in NV_RUNLIST_SUBMIT* (hw/runlist.h).
 */

/* Bit i belongs to runlist i, here and in RUNLIST_PREEMPT. */
#define NV_PFIFO_SCHED_DISABLE			0x00002630 /* RW */
#define NV_PFIFO_PREEMPT			0x00002634 /* RW */
#define  NV_PFIFO_PREEMPT_ID			GENMASK(11, 0)
#define  NV_PFIFO_PREEMPT_PENDING		BIT(20)
#define  NV_PFIFO_PREEMPT_TYPE_TSG		BIT(24)
#define NV_PFIFO_RUNLIST_PREEMPT		0x00002638 /* RW, Volta, Turing */

/*
 * The contexts of an engine and of a PBDMA. From Ampere on the registers are
 * elsewhere (hw/runlist.h, hw/pbdma.h), but their fields are in the same
 * places.
 */
#define NV_PFIFO_ENGINE_STATUS(i)		(0x00002640 + 8 * (i)) /* R- */
#define NV_PFIFO_PBDMA_STATUS(i)		(0x00003080 + 4 * (i)) /* R- */
#define  NV_PFIFO_STATUS_ID			GENMASK(11, 0)
#define  NV_PFIFO_STATUS_ID_TYPE_TSG		BIT(12) /* not Ampere+ */
#define  NV_PFIFO_STATUS_CTX_STATUS		GENMASK(15, 13)
#define   NV_PFIFO_CTX_STATUS_INVALID		0
#define   NV_PFIFO_CTX_STATUS_VALID		1
#define   NV_PFIFO_CTX_STATUS_LOAD		5 /* not Ampere+ */
#define   NV_PFIFO_CTX_STATUS_SAVE		6 /* not Ampere+ */
#define   NV_PFIFO_CTX_STATUS_SWITCH		7
#define  NV_PFIFO_STATUS_NEXT_ID		GENMASK(27, 16)
#define  NV_PFIFO_STATUS_NEXT_ID_TYPE_TSG	BIT(28) /* not Ampere+ */
#define  NV_PFIFO_ENGINE_STATUS_ENG_RELOAD	BIT(29)
#define  NV_PFIFO_ENGINE_STATUS_FAULTED		BIT(30)
#define  NV_PFIFO_ENGINE_STATUS_ENGINE		BIT(31) /* busy */

#define NV_PCCSR_CHANNEL_INST(i)		(0x00800000 + 8 * (i)) /* RW */
#define  NV_PCCSR_CHANNEL_INST_PTR		GENMASK(27, 0) /* >> 12 */
#define  NV_PCCSR_CHANNEL_INST_TARGET		GENMASK(29, 28)
#define  NV_PCCSR_CHANNEL_INST_BIND		BIT(31)
#define NV_PCCSR_CHANNEL(i)			(0x00800004 + 8 * (i)) /* RW */
#define  NV_PCCSR_CHANNEL_ENABLE		BIT(0) /* R- */
#define  NV_PCCSR_CHANNEL_NEXT			BIT(1) /* RW */
#define  NV_PCCSR_CHANNEL_FORCE_CTX_RELOAD	BIT(8) /* -W, trigger */
/* Only the prose of the GV100 manual names this bit (dev_usermode.ref.txt). */
#define  NV_PCCSR_CHANNEL_FORCE_PENDING		BIT(9) /* -W, trigger */
#define  NV_PCCSR_CHANNEL_ENABLE_SET		BIT(10) /* -W, trigger */
#define  NV_PCCSR_CHANNEL_ENABLE_CLR		BIT(11) /* -W, trigger */
#define  NV_PCCSR_CHANNEL_FORCE_PBDMA_FAULTED	BIT(20) /* -W, Turing */
#define  NV_PCCSR_CHANNEL_FORCE_ENG_FAULTED	BIT(21) /* -W, Turing */
#define  NV_PCCSR_CHANNEL_PBDMA_FAULTED		BIT(22) /* RW1C, Volta+ */
#define  NV_PCCSR_CHANNEL_ENG_FAULTED		BIT(23) /* RW1C, Volta+ */
#define  NV_PCCSR_CHANNEL_STATUS		GENMASK(27, 24) /* R- */
#define  NV_PCCSR_CHANNEL_BUSY			BIT(28) /* R- */

#define NV_PCCSR_CHANNEL_STATUS_IDLE				0x0
#define NV_PCCSR_CHANNEL_STATUS_PENDING				0x1
#define NV_PCCSR_CHANNEL_STATUS_PENDING_CTX_RELOAD		0x2
#define NV_PCCSR_CHANNEL_STATUS_PENDING_ACQUIRE			0x3
#define NV_PCCSR_CHANNEL_STATUS_PENDING_ACQ_CTX_RELOAD		0x4
#define NV_PCCSR_CHANNEL_STATUS_ON_PBDMA			0x5
#define NV_PCCSR_CHANNEL_STATUS_ON_PBDMA_AND_ENG		0x6
#define NV_PCCSR_CHANNEL_STATUS_ON_ENG				0x7
#define NV_PCCSR_CHANNEL_STATUS_ON_ENG_PENDING_ACQUIRE		0x8
#define NV_PCCSR_CHANNEL_STATUS_ON_ENG_PENDING			0x9
#define NV_PCCSR_CHANNEL_STATUS_ON_PBDMA_CTX_RELOAD		0xa
#define NV_PCCSR_CHANNEL_STATUS_ON_PBDMA_AND_ENG_CTX_RELOAD	0xb
#define NV_PCCSR_CHANNEL_STATUS_ON_ENG_CTX_RELOAD		0xc
#define NV_PCCSR_CHANNEL_STATUS_ON_ENG_PENDING_CTX_RELOAD	0xd
#define NV_PCCSR_CHANNEL_STATUS_ON_ENG_PENDING_ACQ_CTX_RELOAD	0xe

#endif
