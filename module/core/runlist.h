/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A runlist: its registers, and the PBDMAs that serve it.
 */
#ifndef NVDEBUG_CORE_RUNLIST_H
#define NVDEBUG_CORE_RUNLIST_H

#include <linux/types.h>

/* Ids of channels and TSGs have 12 bits. */
#define NVDEBUG_CHANNEL_IDS	4096

#define NVDEBUG_RUNLIST_PBDMAS	16

struct nvdebug_pbdma {
	u32 number;
	u32 base;		/* base of its registers */
};

struct nvdebug_runlist {
	u32 id;
	u32 base;		/* register block, Ampere and newer */
	u32 chram;		/* channel RAM, Ampere and newer */
	/*
	 * Number of channel ids. 0: nvdebug_runlist_prepare() has not read it
	 * yet.
	 */
	u32 channels;
	struct nvdebug_pbdma pbdma[NVDEBUG_RUNLIST_PBDMAS]; /* in runqueue order */
	u32 pbdmas;
};

#endif
