/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What differs between generations, and nothing else. A function or table is
 * named after the first chip that has what it describes; later chips refer to
 * it. Which struct nvdebug_chip a GPU has is decided once, at creation.
 */
#ifndef NVDEBUG_CHIPS_H
#define NVDEBUG_CHIPS_H

#include <linux/types.h>

#include "access/bar.h"
#include "access/memory.h"
#include "copy_topology.h"
#include "core/gpu.h"
#include "decode/context.h"
#include "decode/instance.h"
#include "device_info.h"
#include "host/preempt.h"
#include "host/submit.h"
#include "mmu.h"
#include "probe/modes.h"
#include "runlist.h"
#include "state/channel.h"
#include "views/engines.h"
#include "views/gpc_topology.h"
#include "views/work_distributor.h"

struct nvdebug_chip_model {
	u16 id;			/* BOOT_0 bits 28:20 */
	const char *name;
};

/* Chips that are the same in all that matters here. */
struct nvdebug_chip {
	const char *generation;
	const struct nvdebug_chip_model *models;	/* ends with a NULL name */
	/* Why there is not what these chips do not have, or nobody knows how to use. */
	const char *missing[NVDEBUG_FEATURES];
	const struct nvdebug_ptop_ops *ptop;
	const struct nvdebug_runlist_ops *runlist;
	const struct nvdebug_channel_ops *channel;
	const struct nvdebug_status_ops *status;
	const struct nvdebug_instance_layout *instance;
	const struct nvdebug_context_layout *context;
	const struct nvdebug_copy_ops *copy;
	const struct nvdebug_geometry_ops *geometry;
	const struct nvdebug_video_memory_ops *video_memory;	/* or NULL */
	const struct nvdebug_cwd_ops *cwd;
	const struct nvdebug_submit_ops *submit;
	const struct nvdebug_preempt_ops *preempt;
	const struct nvdebug_memory_ops *memory;
	const struct nvdebug_mode_ops *mig;	/* or NULL */
	const struct nvdebug_mode_ops *cc;	/* or NULL */
	/* Of chips with video memory: the ways to it. */
	const struct nvdebug_window *window;
	const struct nvdebug_bar_ops *bars;
	const struct nvdebug_mmu_ops *mmu;
	/* As info prints the versions of page tables that it walks. */
	const char *page_tables;
	/* Where ids are the GPU's: how many channels a chip has at most. */
	u32 channels;
};

extern const struct nvdebug_chip nvdebug_chip_gk104;
extern const struct nvdebug_chip nvdebug_chip_gk208;
extern const struct nvdebug_chip nvdebug_chip_gm107;
extern const struct nvdebug_chip nvdebug_chip_gm200;
extern const struct nvdebug_chip nvdebug_chip_gp102;
extern const struct nvdebug_chip nvdebug_chip_gv100;
extern const struct nvdebug_chip nvdebug_chip_tu102;
extern const struct nvdebug_chip nvdebug_chip_ga100;
extern const struct nvdebug_chip nvdebug_chip_ga102;
extern const struct nvdebug_chip nvdebug_chip_ad102;
extern const struct nvdebug_chip nvdebug_chip_gh100;
extern const struct nvdebug_chip nvdebug_chip_gb100;
extern const struct nvdebug_chip nvdebug_chip_gb102;
extern const struct nvdebug_chip nvdebug_chip_gb202;
extern const struct nvdebug_chip nvdebug_chip_gp10b;
extern const struct nvdebug_chip nvdebug_chip_gv11b;
extern const struct nvdebug_chip nvdebug_chip_ga10b;

/* NULL for a chip that nothing here is known to fit. */
const struct nvdebug_chip *nvdebug_chip_find(u16 id, const char **name);

/* Where runlists are. */
u32 nvdebug_runlist_registers_gk104(const struct nvdebug_runlist *runlist);
int nvdebug_runlist_location_read_gk104(struct nvdebug_gpu *gpu,
					const struct nvdebug_runlist *runlist,
					struct nvdebug_runlist_location *loc);
int nvdebug_runlist_prepare_gk104(struct nvdebug_gpu *gpu,
				  struct nvdebug_runlist *runlist);
int nvdebug_runlist_location_read_tu102(struct nvdebug_gpu *gpu,
					const struct nvdebug_runlist *runlist,
					struct nvdebug_runlist_location *loc);
u32 nvdebug_runlist_registers_ga100(const struct nvdebug_runlist *runlist);
int nvdebug_runlist_prepare_ga100(struct nvdebug_gpu *gpu,
				  struct nvdebug_runlist *runlist);

/* Submitting and preempting them. */
extern const struct nvdebug_submit_ops nvdebug_submit_gk104;
extern const struct nvdebug_submit_ops nvdebug_submit_ga102;
extern const struct nvdebug_submit_ops nvdebug_submit_gh100;
extern const struct nvdebug_preempt_ops nvdebug_preempt_gk104;
extern const struct nvdebug_preempt_ops nvdebug_preempt_gv100;
extern const struct nvdebug_preempt_ops nvdebug_preempt_ga100;

extern const struct nvdebug_runlist_block nvdebug_runlist_block_ga100;
extern const struct nvdebug_runlist_block nvdebug_runlist_block_gh100;
extern const struct nvdebug_runlist_ops nvdebug_runlist_gk104;
extern const struct nvdebug_runlist_ops nvdebug_runlist_gv100;
extern const struct nvdebug_runlist_ops nvdebug_runlist_ga102;
extern const struct nvdebug_channel_ops nvdebug_channel_gk104;
extern const struct nvdebug_channel_ops nvdebug_channel_gv100;
extern const struct nvdebug_channel_ops nvdebug_channel_ga100;
extern const struct nvdebug_channel_ops nvdebug_channel_gh100;
extern const struct nvdebug_copy_ops nvdebug_copy_gp102;
extern const struct nvdebug_copy_ops nvdebug_copy_gv100;
extern const struct nvdebug_copy_ops nvdebug_copy_ga102;

#endif
