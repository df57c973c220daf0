/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Structures in GPU memory: runlist entries. RLm_n is word m's field n.
 *
 * Sources: 8-byte form linux-nvgpu include/nvgpu/hw/gk20a/hw_ram_gk20a.h,
 * unchanged in gm20b and gp10b; 16-byte form open-gpu-doc
 * manuals/{volta/gv100,turing/tu104,ampere/ga100}/dev_ram.ref.txt; CASID: the
 * nvgpu of NVIDIA's 2025 Jetson kernels, hw/gb10b and hw/gb20c.
 */
#ifndef NVDEBUG_HW_RAM_H
#define NVDEBUG_HW_RAM_H

#include <linux/bits.h>

/* The form of 8 bytes, Kepler to Pascal. The hardware ignores word 1. */
#define NV_RAMRL8_WORDS				2
#define NV_RAMRL8_0_ID				GENMASK(11, 0)
#define NV_RAMRL8_0_TYPE_TSG			BIT(13)
#define NV_RAMRL8_0_TIMESLICE_SCALE		GENMASK(17, 14)
#define NV_RAMRL8_0_TIMESLICE_TIMEOUT		GENMASK(25, 18)
#define NV_RAMRL8_0_TSG_LENGTH			GENMASK(31, 26)
/* These bits are zero in a channel's entry. */
#define NV_RAMRL8_0_CHANNEL_ZERO		GENMASK(31, 14)

/* The form of 16 bytes, Volta and newer. */
#define NV_RAMRL16_WORDS			4
#define NV_RAMRL16_0_TYPE_TSG			BIT(0)
#define NV_RAMRL16_0_CHAN_RUNQUEUE_SELECTOR	BIT(1)
#define NV_RAMRL16_0_CHAN_INST_TARGET		GENMASK(5, 4)
#define NV_RAMRL16_0_TSG_TIMESLICE_SCALE	GENMASK(19, 16)
#define NV_RAMRL16_0_TSG_TIMESLICE_TIMEOUT	GENMASK(31, 24)
#define NV_RAMRL16_1_TSG_LENGTH			GENMASK(7, 0)
#define NV_RAMRL16_2_ID				GENMASK(11, 0)
#define NV_RAMRL16_2_CHAN_INST_PTR_LO		GENMASK(31, 12) /* in place */
/* GB20x also has CASID in the same place of word 1, above the USERD pointer. */
#define NV_RAMRL16_3_CHAN_INST_PTR_HI_GB10B	GENMASK(19, 0)
#define NV_RAMRL16_3_CHAN_CASID_GB10B		GENMASK(31, 26)
/* These bits are zero in a TSG header. */
#define NV_RAMRL16_0_TSG_ZERO			BIT(1)
#define NV_RAMRL16_1_TSG_ZERO			GENMASK(31, 8)
#define NV_RAMRL16_2_TSG_ZERO			GENMASK(31, 12)
#define NV_RAMRL16_3_TSG_ZERO			GENMASK(31, 0)

/* Apertures, as every pointer of this file and of hw/pfifo.h encodes them. */
#define NV_APERTURE_VID				0
#define NV_APERTURE_INVALID			1
#define NV_APERTURE_COH				2
#define NV_APERTURE_NCOH			3

/* The unit of a timeslice, in ns (GV100 and GA100 manuals). */
#define NV_TIMESLICE_UNIT_NS			1024

#endif
