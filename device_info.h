/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What engines a GPU has and which runlists they hang on. Read once, at
 * creation: it does not change while the GPU has power.
 */
#ifndef NVDEBUG_DEVICE_INFO_H
#define NVDEBUG_DEVICE_INFO_H

#include <linux/types.h>

#include "decode/ptop.h"

struct nvdebug_gpu;

#define NVDEBUG_RUNLIST_PBDMAS	16

struct nvdebug_pbdma {
	u32 number;
	u32 base;		/* of its registers */
};

struct nvdebug_runlist {
	u32 id;
	u32 base;		/* register block, Ampere and newer */
	u32 chram;		/* channel RAM, Ampere and newer */
	/*
	 * Ids of channels are below this. 0: the runlist has not told yet,
	 * see nvdebug_runlist_prepare().
	 */
	u32 channels;
	struct nvdebug_pbdma pbdma[NVDEBUG_RUNLIST_PBDMAS]; /* in runqueue order */
	u32 pbdmas;
};

struct nvdebug_topology {
	struct nvdebug_engine *engine;
	u32 engines;
	struct nvdebug_runlist *runlist;	/* by rising id */
	u32 runlists;
	u32 channels;		/* where ids are global, else 0 */
	u32 nameless_runlists;	/* left out, since they did not tell their id */
	bool counted_runlists;	/* none told its id: ids are the table's order */
};

typedef int (*nvdebug_ptop_decode_fn)(const u32 *row, size_t rows,
				      struct nvdebug_engine *engines,
				      size_t max, u32 *ignored);

struct nvdebug_ptop_ops {
	/*
	 * Fill in gpu->topology. If there is no usable table, returns an error
	 * with *@why set and leaves the topology empty.
	 */
	int (*read)(struct nvdebug_gpu *gpu, const char **why);
	u32 pbdmas;	/* how many, up to Turing; 0: PFIFO tells */
	/* from Ampere on */
	nvdebug_ptop_decode_fn decode;
	u32 newest;	/* version of the table */
	bool two_dies;	/* and two tables */
};

extern const struct nvdebug_ptop_ops nvdebug_ptop_gk104;
extern const struct nvdebug_ptop_ops nvdebug_ptop_gm200;
extern const struct nvdebug_ptop_ops nvdebug_ptop_ga100;
extern const struct nvdebug_ptop_ops nvdebug_ptop_gb100;
extern const struct nvdebug_ptop_ops nvdebug_ptop_gb202;

extern const struct nvdebug_view nvdebug_device_info_view;

struct nvdebug_runlist *nvdebug_runlist_find(struct nvdebug_gpu *gpu, u32 id);
/* Does @engine hang on the runlist of the first graphics engine? */
bool nvdebug_engine_is_on_graphics(const struct nvdebug_gpu *gpu,
				   const struct nvdebug_engine *engine);
/* Does any graphics engine hang on the runlist? */
bool nvdebug_runlist_has_graphics(const struct nvdebug_gpu *gpu, u32 id);
/* How much of it did not answer. */
u32 nvdebug_topology_gaps(const struct nvdebug_topology *topology);
void nvdebug_topology_free(struct nvdebug_topology *topology);

#endif
