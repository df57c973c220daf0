/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * NV_RUNLIST and NV_CHRAM: the host scheduler from Ampere on. Every runlist
 * has a register block of its own, whose base PTOP gives, and a channel RAM,
 * whose base that block gives. Channel ids are per runlist.
 *
 * Sources: open-gpu-doc manuals/ampere/ga100/dev_runlist.ref.txt;
 * PTR_LO on GA10x: open-gpu-kernel-modules
 * src/common/inc/swref/published/ampere/ga102/dev_ram.h;
 * ENGINE_ID: linux-nvgpu include/nvgpu/hw/ga10b/hw_runlist_ga10b.h.
 */
#ifndef NVDEBUG_HW_RUNLIST_H
#define NVDEBUG_HW_RUNLIST_H

#include <linux/bits.h>

/* offsets from the runlist's PRI base */
#define NV_RUNLIST_CHANNEL_CONFIG		0x004 /* R- */
#define  NV_RUNLIST_CHANNEL_CONFIG_NUM_CHANNELS_LOG2 GENMASK(3, 0)
#define  NV_RUNLIST_CHANNEL_CONFIG_CHRAM_BAR0_OFFSET GENMASK(31, 4) /* in place */
#define NV_RUNLIST_DOORBELL_CONFIG		0x008 /* R- */
#define  NV_RUNLIST_DOORBELL_CONFIG_ID		GENMASK(31, 16)
#define NV_RUNLIST_PBDMA_CONFIG(i)		(0x010 + 4 * (i)) /* R- */
#define NV_RUNLIST_PBDMA_CONFIG__SIZE_1		2
#define  NV_RUNLIST_PBDMA_CONFIG_PBDMA_BAR0_OFFSET GENMASK(25, 10) /* in place */
#define  NV_RUNLIST_PBDMA_CONFIG_VALID		BIT(31)
#define NV_RUNLIST_SUBMIT_BASE_LO		0x080 /* RW */
#define  NV_RUNLIST_SUBMIT_BASE_LO_PTR_LO_GA100	GENMASK(31, 12) /* in place */
#define  NV_RUNLIST_SUBMIT_BASE_LO_PTR_LO_GA102	GENMASK(31, 10) /* in place */
#define  NV_RUNLIST_SUBMIT_BASE_LO_TARGET	GENMASK(1, 0)
#define NV_RUNLIST_SUBMIT_BASE_HI		0x084 /* RW */
#define  NV_RUNLIST_SUBMIT_BASE_HI_PTR_HI	GENMASK(7, 0)
#define NV_RUNLIST_SUBMIT			0x088 /* RW, a write submits */
#define  NV_RUNLIST_SUBMIT_LENGTH		GENMASK(15, 0)
#define NV_RUNLIST_SUBMIT_INFO			0x08c /* R- */
#define  NV_RUNLIST_SUBMIT_INFO_PENDING		BIT(15)
#define NV_RUNLIST_INTERNAL_DOORBELL		0x090 /* -W */
#define  NV_RUNLIST_INTERNAL_DOORBELL_CHID	GENMASK(11, 0)
#define NV_RUNLIST_SCHED_DISABLE		0x094 /* RW */
#define  NV_RUNLIST_SCHED_DISABLE_RUNLIST	BIT(0)
/* TYPE: 0 preempts what runs on the runlist, 1 the TSG. ID as up to Turing. */
#define NV_RUNLIST_PREEMPT			0x098 /* RW */
#define  NV_RUNLIST_PREEMPT_TSG_PREEMPT_PENDING	BIT(20)
#define  NV_RUNLIST_PREEMPT_RUNLIST_PREEMPT_PENDING BIT(21)
#define NV_RUNLIST_ENGINE_STATUS1(i)		(0x204 + 0x40 * (i)) /* R- */
#define  NV_RUNLIST_ENGINE_STATUS1_INTR_ID	GENMASK(20, 16)
#define NV_RUNLIST_ENGINE_STATUS_DEBUG(i)	(0x228 + 0x40 * (i)) /* R- */
#define  NV_RUNLIST_ENGINE_STATUS_DEBUG_ENGINE_ID GENMASK(29, 24)
#define NV_RUNLIST_ENGINE_STATUS__SIZE_1	3

/* The PBDMAs, GA100 manual dev_pbdma.ref.txt: unit p is at 0x40000 + 0x800 p. */
#define NV_PPBDMA_BASE				0x00040000
#define NV_PPBDMA_STRIDE			0x800

/* Channel RAM, offset from its base. Bit 0 of a write says what ones do. */
#define NV_CHRAM_CHANNEL(i)			(4 * (i)) /* RW */
#define  NV_CHRAM_CHANNEL_ENABLE		BIT(1) /* RW */
#define  NV_CHRAM_CHANNEL_NEXT			BIT(2) /* RW */
#define  NV_CHRAM_CHANNEL_BUSY			BIT(3) /* R- */
#define  NV_CHRAM_CHANNEL_PBDMA_FAULTED		BIT(4) /* RW */
#define  NV_CHRAM_CHANNEL_ENG_FAULTED		BIT(5) /* RW */
#define  NV_CHRAM_CHANNEL_ON_PBDMA		BIT(6) /* R- */
#define  NV_CHRAM_CHANNEL_ON_ENG		BIT(7) /* R- */
#define  NV_CHRAM_CHANNEL_PENDING		BIT(8) /* RW */
#define  NV_CHRAM_CHANNEL_CTX_RELOAD		BIT(9) /* RW */
#define  NV_CHRAM_CHANNEL_PBDMA_BUSY		BIT(10) /* R- */
#define  NV_CHRAM_CHANNEL_ENG_BUSY		BIT(11) /* R- */
#define  NV_CHRAM_CHANNEL_ACQUIRE_FAIL		BIT(12) /* RW */
#define NV_CHRAM_CHANNEL_UPDATE_ENABLE_CHANNEL	0x00000002
#define NV_CHRAM_CHANNEL_UPDATE_DISABLE_CHANNEL	0x00000003

#endif
