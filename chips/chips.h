/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What differs between generations, and nothing else. A function or table is
 * named after the first chip that has what it describes; later chips refer to
 * it. Which struct nvdebug_chip a GPU has is decided once, when it is probed.
 */
#ifndef NVDEBUG_CHIPS_H
#define NVDEBUG_CHIPS_H

#include <linux/types.h>

#include "core/channel.h"
#include "core/gpu.h"
#include "decode/bar.h"
#include "decode/context.h"
#include "decode/instance.h"
#include "decode/mmu.h"
#include "decode/ptop.h"
#include "decode/runlist.h"

struct nvdebug_ctx_status;
struct nvdebug_engine_status;
struct nvdebug_instance_place;

/* The table of devices. */

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

/* Runlists. */

/* Where in its register block a runlist has what, Ampere and newer. */
struct nvdebug_runlist_block {
	u16 channel_config;
	u16 doorbell_config;
	u16 pbdma_config;		/* + 4 i */
	bool pbdma_ids;			/* does that say the PBDMA's number? */
	/* of each engine, + NV_RUNLIST_ENGINE_STATUS__STRIDE i; 0: not public */
	u16 engine_status0;
	u16 engine_status1;
	u16 engine_status_channel;	/* + 4 for the second PBDMA */
	u16 engine_status_debug;
	u32 engines;
};

struct nvdebug_runlist_ops {
	/* The form of the entries. */
	u32 entry_words;
	bool has_runqueue;
	int (*decode)(const u32 *word, size_t words,
		      struct nvdebug_entry *entry);
	bool (*is_pri_error)(const u32 *word, size_t words);
	/* word 0 of a TSG header with another timeslice */
	u32 (*set_timeslice)(u32 word, u8 timeout, u8 scale);
	/*
	 * The registers that say where the list is: the first one, and where
	 * in them LENGTH is, which is bits 15:0 on every chip.
	 */
	u32 (*registers)(const struct nvdebug_runlist *runlist);
	u32 length_offset;
	u32 ptr_lo;	/* mask of the address bits in the first one */
	u32 ptr_hi;	/* and in the second, where there is one */
	int (*location)(struct nvdebug_gpu *gpu,
			const struct nvdebug_runlist *runlist,
			struct nvdebug_runlist_location *loc);
	const struct nvdebug_runlist_block *block;	/* NULL up to Turing */
	/*
	 * How many channels a runlist must say that it has, where the map of
	 * its block is inferred; 0: as many as it says.
	 */
	u32 channels;
	/*
	 * Read what the runlist's own registers say of it, where it has any.
	 * Called with gpu->lock held, until it succeeds once.
	 */
	int (*prepare)(struct nvdebug_gpu *gpu,
		       struct nvdebug_runlist *runlist);
};

struct nvdebug_submit_ops {
	/* The first of the registers that @encode has the words for. */
	u32 (*port)(const struct nvdebug_runlist *runlist);
	int (*encode)(const struct nvdebug_runlist_location *loc, u32 runlist,
		      u64 ptr, u32 *word);
	u64 ptr;	/* mask of the address bits that fit */
};

/* Registers are offsets from the runlist's base, which is 0 up to Turing. */
struct nvdebug_preempt_ops {
	/*
	 * Are the gate and the preempt of runlists registers of all runlists,
	 * where a runlist's bit is that of its id? Else they are its own.
	 */
	bool shared;
	u32 gate;		/* SCHED_DISABLE */
	u32 tsg;		/* PREEMPT */
	u32 tsg_pending;	/* bit of it that tells completion; 0: none does */
	/*
	 * Is completion to be seen in the status of PBDMAs and engines? Then the
	 * gate is closed meanwhile, or other TSGs would keep that from settling.
	 */
	bool tsg_watched;
	u32 runlist;		/* 0: none, the list is submitted again */
};

/* Channels. */

/* Where the state of a channel is, which decides what there is to show. */
enum nvdebug_channel_form {
	NVDEBUG_CHANNEL_PCCSR,	/* Kepler to Turing */
	NVDEBUG_CHANNEL_CHRAM,	/* channel RAM, Ampere and newer */
};

struct nvdebug_channel_ops {
	enum nvdebug_channel_form form;
	bool per_runlist;	/* are ids local to a runlist? */
	bool has_faults;	/* does the state tell of faults? */
	u32 count_reg;		/* says how many the GPU has; 0: there is none */

	/* The register that holds the state and takes changes. */
	u32 (*reg)(const struct nvdebug_runlist *runlist, u32 id);
	u32 (*enable_word)(u32 old, bool enable);
	bool (*is_enabled)(u32 state);
	/*
	 * What to write, and where, so that Host looks at a channel that was
	 * enabled: a runlist that went idle meanwhile is not gone round again
	 * by itself. Returns false where there is no such register. @runlist
	 * is NULL where ids are those of the whole GPU.
	 */
	bool (*doorbell)(const struct nvdebug_runlist *runlist, u32 id,
			 u32 *reg, u32 *value);

	/*
	 * Where its instance block is: in a register, which read_inst() reads
	 * alone, or in the entry, and then that is NULL.
	 */
	int (*read_inst)(struct nvdebug_gpu *gpu, u32 id,
			 struct nvdebug_channel *channel);
	void (*place)(const struct nvdebug_channel *channel,
		      const struct nvdebug_entry *entry,
		      struct nvdebug_instance_place *place);
	int (*read)(struct nvdebug_gpu *gpu,
		    const struct nvdebug_runlist *runlist, u32 id,
		    struct nvdebug_channel *channel);
};

/* Engines. */

struct nvdebug_status_ops {
	/* 0: not public */
	u32 (*engine_reg)(const struct nvdebug_gpu *gpu,
			  const struct nvdebug_engine *engine);
	u32 (*pbdma_reg)(const struct nvdebug_pbdma *pbdma);
	/* The channel from the @n-th PBDMA of its runlist; 0: does not tell. */
	u32 (*channel_reg)(const struct nvdebug_gpu *gpu,
			   const struct nvdebug_engine *engine, u32 n);
	void (*engine)(u32 word, struct nvdebug_engine_status *out);
	void (*pbdma)(u32 word, struct nvdebug_ctx_status *out);
	/* The bit of a PBDMA's CHANNEL that says so; 0: the status has to do. */
	u32 pbdma_channel_valid;
	bool faults_of_all;	/* or only of copy engines? */
};

struct nvdebug_copy_ops {
	u32 pce_map;	/* mask of the field in PCE_MAP */
	u32 pces;	/* how many PCEs the wiring registers have room for */
	u32 grces;
	u32 lces;	/* whose PCEs these registers are of; 0: all */
	/* One register for all of them if the stride is 0. */
	u32 pce_reg;
	u32 pce_stride;
	u32 grce_reg;
	u32 grce_stride;
	u8 (*pce_lce)(u32 config, u32 pce);
	u8 (*grce_lce)(u32 config, u32 grce);
};

struct nvdebug_geometry_ops {
	/*
	 * Registers of what is off, ORed if there are two: of GPCs, and the
	 * first of those of TPCs, one for each GPC.
	 */
	u32 gpc_reg[2];
	u32 tpc_reg[2];
	bool has_ltcs;
};

/* The register of the size of video memory. */
struct nvdebug_video_memory_ops {
	u32 reg;
	u64 (*bytes)(u32 word);
};

struct nvdebug_cwd_ops {
	u32 gpc_tpc_id;		/* registers */
	u32 sm_id;
	u32 gpc_tpc_words;	/* most that there can be */
	u32 sm_words;
	u32 sms_per_tpc;
	bool has_partitions;
	bool fitted;	/* there are no more GPC_TPC_ID words than TPCs need */
};

/* Memory. */

/* Where what an aperture means is. */
enum nvdebug_place {
	NVDEBUG_PLACE_NONE,
	NVDEBUG_PLACE_VIDEO,
	NVDEBUG_PLACE_SYSTEM,
};

/* What a chip takes addresses for. */
struct nvdebug_memory_ops {
	u8 place[4];	/* enum nvdebug_place, by NV_APERTURE_* */
	u8 own;		/* the aperture to tell it of system memory of ours */
	/*
	 * Of addresses in system memory that have a bit which is none of the
	 * address: the bit, or 0. Is what is left an address for the IOMMU, if
	 * the GPU is behind one: with the bit, without?
	 */
	u64 mark;
	bool marked_is_translated;
	bool unmarked_is_translated;
};

/* The register that says what PRAMIN shows. */
struct nvdebug_window {
	u32 reg;
	u32 base;	/* mask of the address field */
	u32 target;	/* mask of the aperture field, if it has one */
};

struct nvdebug_bar_ops {
	/* What does BAR @bar, 1 or 2, show? */
	int (*block)(struct nvdebug_gpu *gpu, int bar,
		     struct nvdebug_bar_block *block);
};

/* Which formats a chip walks. */
struct nvdebug_mmu_ops {
	const struct nvdebug_mmu_format *own;	/* of version 2 or 3, or NULL */
	/* the same with big pages of 128 KiB, or NULL */
	const struct nvdebug_mmu_format *own_128k;
	bool version1;
};

/* Modes. */

/* The bits that say that a mode is on: any of them. */
struct nvdebug_mode_ops {
	struct {
		u32 reg;	/* 0: there is no more */
		u32 on;
	} bit[2];
};

/* Chips. */

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

/* Is @aperture one that the chip has, and where? */
enum nvdebug_place nvdebug_mem_place(const struct nvdebug_gpu *gpu, u8 aperture);

/* What several chips have. */

int nvdebug_runlist_location_read_gk104(struct nvdebug_gpu *gpu,
					const struct nvdebug_runlist *runlist,
					struct nvdebug_runlist_location *loc);
u32 nvdebug_runlist_registers_gk104(const struct nvdebug_runlist *runlist);
int nvdebug_runlist_prepare_gk104(struct nvdebug_gpu *gpu,
				  struct nvdebug_runlist *runlist);
int nvdebug_runlist_location_read_tu102(struct nvdebug_gpu *gpu,
					const struct nvdebug_runlist *runlist,
					struct nvdebug_runlist_location *loc);
u32 nvdebug_runlist_registers_ga100(const struct nvdebug_runlist *runlist);
int nvdebug_runlist_prepare_ga100(struct nvdebug_gpu *gpu,
				  struct nvdebug_runlist *runlist);

u32 nvdebug_channel_reg_gk104(const struct nvdebug_runlist *runlist, u32 id);
int nvdebug_channel_read_inst_gk104(struct nvdebug_gpu *gpu, u32 id,
				    struct nvdebug_channel *channel);
void nvdebug_channel_place_gk104(const struct nvdebug_channel *channel,
				 const struct nvdebug_entry *entry,
				 struct nvdebug_instance_place *place);
int nvdebug_channel_read_gk104(struct nvdebug_gpu *gpu,
			       const struct nvdebug_runlist *runlist, u32 id,
			       struct nvdebug_channel *channel);
u32 nvdebug_channel_reg_ga100(const struct nvdebug_runlist *runlist, u32 id);
void nvdebug_channel_place_ga100(const struct nvdebug_channel *channel,
				 const struct nvdebug_entry *entry,
				 struct nvdebug_instance_place *place);
int nvdebug_channel_read_ga100(struct nvdebug_gpu *gpu,
			       const struct nvdebug_runlist *runlist, u32 id,
			       struct nvdebug_channel *channel);
bool nvdebug_channel_doorbell_gh100(const struct nvdebug_runlist *runlist,
				    u32 id, u32 *reg, u32 *value);

int nvdebug_bar_read_block(struct nvdebug_gpu *gpu, int bar, u32 block_reg,
			   u32 bind_reg, struct nvdebug_bar_block *block);
int nvdebug_bar_read_block_gk104(struct nvdebug_gpu *gpu, int bar,
				 struct nvdebug_bar_block *block);

extern const struct nvdebug_status_ops nvdebug_status_ga100;
extern const struct nvdebug_status_ops nvdebug_status_gk104;
extern const struct nvdebug_geometry_ops nvdebug_geometry_ga100;
extern const struct nvdebug_geometry_ops nvdebug_geometry_gm200;
extern const struct nvdebug_video_memory_ops nvdebug_video_memory_ops_ga102;
extern const struct nvdebug_video_memory_ops nvdebug_video_memory_ops_gp102;
extern const struct nvdebug_mmu_ops nvdebug_mmu_ops_ga100;
extern const struct nvdebug_mmu_ops nvdebug_mmu_ops_gk104;
extern const struct nvdebug_runlist_ops nvdebug_runlist_ga102;
extern const struct nvdebug_runlist_ops nvdebug_runlist_gk104;
extern const struct nvdebug_runlist_ops nvdebug_runlist_gv100;
extern const struct nvdebug_submit_ops nvdebug_submit_ga102;
extern const struct nvdebug_submit_ops nvdebug_submit_gh100;
extern const struct nvdebug_submit_ops nvdebug_submit_gk104;
extern const struct nvdebug_preempt_ops nvdebug_preempt_ga100;
extern const struct nvdebug_preempt_ops nvdebug_preempt_gk104;
extern const struct nvdebug_preempt_ops nvdebug_preempt_gv100;
extern const struct nvdebug_channel_ops nvdebug_channel_ga100;
extern const struct nvdebug_channel_ops nvdebug_channel_gh100;
extern const struct nvdebug_channel_ops nvdebug_channel_gk104;
extern const struct nvdebug_channel_ops nvdebug_channel_gv100;
extern const struct nvdebug_copy_ops nvdebug_copy_ga102;
extern const struct nvdebug_copy_ops nvdebug_copy_gp102;
extern const struct nvdebug_copy_ops nvdebug_copy_gv100;
extern const struct nvdebug_bar_ops nvdebug_bars_gh100;
extern const struct nvdebug_bar_ops nvdebug_bars_gk104;
extern const struct nvdebug_bar_ops nvdebug_bars_tu102;
extern const struct nvdebug_mode_ops nvdebug_mig_gh100;
extern const struct nvdebug_runlist_block nvdebug_runlist_block_gh100;
extern const struct nvdebug_memory_ops nvdebug_memory_gk104;
extern const struct nvdebug_window nvdebug_window_nv50;
extern const struct nvdebug_cwd_ops nvdebug_cwd_gp100;
extern const struct nvdebug_cwd_ops nvdebug_cwd_gv100;
extern const struct nvdebug_ptop_ops nvdebug_ptop_gk104;
extern const struct nvdebug_ptop_ops nvdebug_ptop_gm200;
extern const struct nvdebug_ptop_ops nvdebug_ptop_ga100;
extern const struct nvdebug_ptop_ops nvdebug_ptop_gb100;
extern const struct nvdebug_ptop_ops nvdebug_ptop_gb202;

#endif
