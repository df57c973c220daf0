/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * NV_RUNLIST and NV_CHRAM: the host scheduler from Ampere on. Every runlist
 * has a register block of its own, whose base PTOP gives, and a channel RAM,
 * whose base that block gives. Channel ids are per runlist. GB20x has the
 * same registers in other places.
 *
 * Sources: open-gpu-doc manuals/ampere/ga100/dev_runlist.ref.txt;
 * PTR_LO: open-gpu-kernel-modules src/common/inc/swref/published/
 * {ampere/ga102,blackwell/gb202}/dev_ram.h; ENGINE_ID, PBDMA_CONFIG_ID:
 * linux-nvgpu include/nvgpu/hw/ga10b/hw_runlist_ga10b.h; PTR_HI of GB10x and
 * the places of GB20x: the nvgpu of NVIDIA's 2025 Jetson kernels, hw/gb10b
 * and hw/gb20c. Of GB202 itself only PREEMPT and the channel RAM are public
 * (blackwell/gb202/dev_runlist.h); they agree with GB20C.
 */
#ifndef NVDEBUG_HW_RUNLIST_H
#define NVDEBUG_HW_RUNLIST_H

#include <linux/bits.h>

/* Registers are offsets from the runlist's PRI base. */
#define NV_RUNLIST_CHANNEL_CONFIG		0x004 /* R- */
#define  NV_RUNLIST_CHANNEL_CONFIG_NUM_CHANNELS_LOG2 GENMASK(3, 0)
/* All manuals and headers have this number of channels. */
#define NV_RUNLIST_CHANNELS			2048
#define  NV_RUNLIST_CHANNEL_CONFIG_CHRAM_BAR0_OFFSET GENMASK(31, 4) /* in place */
#define NV_RUNLIST_DOORBELL_CONFIG		0x008 /* R- */
#define  NV_RUNLIST_DOORBELL_CONFIG_ID		GENMASK(31, 16)
/* A doorbell has 7 bits for the id; the id with all bits set is invalid. */
#define  NV_RUNLIST_DOORBELL_CONFIG_ID_MAX	0x7e
#define NV_RUNLIST_PBDMA_CONFIG			0x010 /* R-, + 4 i */
#define NV_RUNLIST_PBDMA_CONFIG__SIZE_1		2
#define  NV_RUNLIST_PBDMA_CONFIG_ID		GENMASK(7, 0)
#define  NV_RUNLIST_PBDMA_CONFIG_PBDMA_BAR0_OFFSET GENMASK(25, 10) /* in place */
#define  NV_RUNLIST_PBDMA_CONFIG_VALID		BIT(31)
#define NV_RUNLIST_SUBMIT_BASE_LO		0x080 /* RW */
#define  NV_RUNLIST_SUBMIT_BASE_LO_PTR_LO_GA100	GENMASK(31, 12) /* in place */
#define  NV_RUNLIST_SUBMIT_BASE_LO_PTR_LO_GA102	GENMASK(31, 10) /* in place */
#define  NV_RUNLIST_SUBMIT_BASE_LO_PTR_LO_GB202	GENMASK(31, 8) /* in place */
#define  NV_RUNLIST_SUBMIT_BASE_LO_TARGET	GENMASK(1, 0)
#define NV_RUNLIST_SUBMIT_BASE_HI		0x084 /* RW */
#define  NV_RUNLIST_SUBMIT_BASE_HI_PTR_HI	GENMASK(7, 0)
#define  NV_RUNLIST_SUBMIT_BASE_HI_PTR_HI_GB10B	GENMASK(19, 0)
#define NV_RUNLIST_SUBMIT			0x088 /* RW, a write submits */
#define  NV_RUNLIST_SUBMIT_LENGTH		GENMASK(15, 0)
#define NV_RUNLIST_SUBMIT_INFO			0x08c /* R- */
#define  NV_RUNLIST_SUBMIT_INFO_PENDING		BIT(15)
#define NV_RUNLIST_INTERNAL_DOORBELL		0x090 /* -W */
#define  NV_RUNLIST_INTERNAL_DOORBELL_CHID	GENMASK(11, 0)
#define NV_RUNLIST_SCHED_DISABLE		0x094 /* RW */
#define  NV_RUNLIST_SCHED_DISABLE_RUNLIST	BIT(0)
/*
 * TYPE 0 preempts the running work of the runlist, 1 the TSG. ID is as up to
 * Turing.
 */
#define NV_RUNLIST_PREEMPT			0x098 /* RW */
#define  NV_RUNLIST_PREEMPT_TSG_PREEMPT_PENDING	BIT(20)
#define  NV_RUNLIST_PREEMPT_RUNLIST_PREEMPT_PENDING BIT(21)
#define NV_RUNLIST_ENGINE_STATUS0		0x200 /* R-, + STRIDE i */
#define NV_RUNLIST_ENGINE_STATUS__STRIDE	0x40
#define NV_RUNLIST_ENGINE_STATUS__SIZE_1	3
/* The fields are those of NV_PFIFO_ENGINE_STATUS, except for two codes: */
#define   NV_RUNLIST_CTX_STATUS_SAVE		5
#define   NV_RUNLIST_CTX_STATUS_LOAD		6
#define NV_RUNLIST_ENGINE_STATUS1		0x204 /* R-, + STRIDE i */
#define  NV_RUNLIST_ENGINE_STATUS1_INTR_ID	GENMASK(20, 16)
/* A register for each PBDMA of the runlist (inferred from there being two). */
#define NV_RUNLIST_ENGINE_STATUS_CHANNEL	0x208 /* R-, + STRIDE i + 4 j */
#define  NV_RUNLIST_ENGINE_STATUS_CHANNEL_CHID	GENMASK(11, 0)
#define  NV_RUNLIST_ENGINE_STATUS_CHANNEL_VALID	BIT(15)
#define NV_RUNLIST_ENGINE_STATUS_DEBUG		0x228 /* R-, + STRIDE i */
#define  NV_RUNLIST_ENGINE_STATUS_DEBUG_ENGINE_ID GENMASK(29, 24)

/*
 * Places of the same registers on GB20x. Other registers have no public place
 * there.
 */
#define NV_RUNLIST_SUBMIT_BASE_LO_GB202		0x000
#define NV_RUNLIST_SCHED_DISABLE_GB202		0x010
#define NV_RUNLIST_PREEMPT_GB202		0x014
#define NV_RUNLIST_ENGINE_STATUS0_GB202		0x090
#define NV_RUNLIST_ENGINE_STATUS_DEBUG_GB202	0x0b0
#define NV_RUNLIST_ENGINE_STATUS__SIZE_1_GB202	2
#define NV_RUNLIST_CHANNEL_CONFIG_GB202		0x148
#define NV_RUNLIST_DOORBELL_CONFIG_GB202	0x14c
#define NV_RUNLIST_PBDMA_CONFIG_GB202		0x154

/*
 * Channel RAM, offset from its base. In a write bit 0 selects whether ones set
 * or clear a bit.
 */
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
