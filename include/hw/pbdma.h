/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * NV_PPBDMA: the units that fetch a channel's pushbuffers. Only their status is
 * here: writing to a unit while a channel is loaded upsets it.
 *
 * Sources: open-gpu-doc manuals/volta/gv100/dev_pbdma.ref.txt and
 * manuals/ampere/ga100/dev_pbdma.ref.txt; for Kepler envytools
 * rnndb/fifo/gf100_pfifo.xml; the nvgpu of NVIDIA's 2025 Jetson kernels has
 * CHANNEL and STATUS_SCHED in the same places on GB10B and GB20C.
 */
#ifndef NVDEBUG_HW_PBDMA_H
#define NVDEBUG_HW_PBDMA_H

#include <linux/bits.h>

#define NV_PPBDMA_BASE				0x00040000
#define NV_PPBDMA_STRIDE_GK104			0x2000
#define NV_PPBDMA_STRIDE_GA100			0x800

/*
 * Registers are offsets from the unit's base. CHANNEL keeps its value when the
 * channel leaves.
 */
#define NV_PPBDMA_CHANNEL			0x120 /* R- */
#define  NV_PPBDMA_CHANNEL_CHID			GENMASK(11, 0)
#define  NV_PPBDMA_CHANNEL_VALID		BIT(13) /* Ampere+ */
/* STATUS_SCHED has the fields of NV_RUNLIST_ENGINE_STATUS0. */
#define NV_PPBDMA_STATUS_SCHED			0x15c /* R-, Ampere+ */

#endif
