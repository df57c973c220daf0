/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Per-generation functions and tables. Each is named after the first chip that
 * it applies to, and shared by later chips. The probe sets gpu->chip.
 */
#ifndef NVDEBUG_CHIPS_H
#define NVDEBUG_CHIPS_H

#include <linux/types.h>

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
	/* Number of PBDMAs, up to Turing; 0: it is read from PFIFO. */
	u32 pbdmas;
	/* The table's format, from Ampere on. */
	nvdebug_ptop_decode_fn decode;
	u32 newest;	/* highest version of the table */
	bool two_dies;	/* the chip has two tables */
};

/* Runlists. */

/* Offsets in the register block of a runlist, Ampere and newer. */
struct nvdebug_runlist_block {
	u16 channel_config;
	u16 doorbell_config;
	u16 pbdma_config;		/* + 4 i */
	/* PBDMA_CONFIG has the PBDMA's number */
	bool pbdma_ids;
	/*
	 * Registers of each engine, + NV_RUNLIST_ENGINE_STATUS__STRIDE i; 0:
	 * not public.
	 */
	u16 engine_status0;
	u16 engine_status1;
	u16 engine_status_channel;	/* + 4 for the second PBDMA */
	u16 engine_status_debug;
	u32 engines;
};

struct nvdebug_runlist_ops {
	/*
	 * Format of the entries. Where channels are in channel RAM, every entry
	 * of a channel has a runqueue.
	 */
	u32 entry_words;
	bool has_runqueue;
	int (*decode)(const u32 *word, size_t words,
		      struct nvdebug_entry *entry);
	/*
	 * Return whether word @i of a list is not decoded, given the words
	 * before it.
	 */
	bool (*skip)(const u32 *word, size_t i);
	bool (*is_pri_error)(const u32 *word, size_t words);
	/* Return word 0 of a TSG header with another timeslice. */
	u32 (*set_timeslice)(u32 word, u8 timeout, u8 scale);
	/*
	 * The location registers: registers() returns the first one, and
	 * length_offset leads from there to the register with LENGTH, which is
	 * in bits 15:0 on every chip.
	 */
	u32 (*registers)(const struct nvdebug_runlist *runlist);
	u32 length_offset;
	u32 ptr_lo;	/* mask of the address bits in the first one */
	u32 ptr_hi;	/* the same in the second one, if there is one */
	int (*location)(struct nvdebug_gpu *gpu,
			const struct nvdebug_runlist *runlist,
			struct nvdebug_runlist_location *loc);
	const struct nvdebug_runlist_block *block;	/* NULL up to Turing */
	/*
	 * Expected number of channels, as a check where the offsets of the
	 * block are inferred; 0: any.
	 */
	u32 channels;
	/*
	 * Set runlist->channels and chram, from the runlist's own registers if
	 * it has any. Called with gpu->lock held, until it succeeds once.
	 */
	int (*prepare)(struct nvdebug_gpu *gpu,
		       struct nvdebug_runlist *runlist);
};

struct nvdebug_submit_ops {
	/* Return the first of the registers for the words of ->encode(). */
	u32 (*port)(const struct nvdebug_runlist *runlist);
	int (*encode)(const struct nvdebug_runlist_location *loc, u32 runlist,
		      u64 ptr, u32 *word);
	u64 ptr;	/* mask of the address bits of the registers */
};

/* Registers are offsets from the runlist's base, which is 0 up to Turing. */
struct nvdebug_preempt_ops {
	/*
	 * The gate and the preempt register of a runlist are shared by all
	 * runlists, with one bit per runlist id; else each runlist has its own.
	 */
	bool shared;
	u32 gate;		/* SCHED_DISABLE */
	u32 tsg;		/* PREEMPT */
	u32 tsg_pending;	/* bit that completion clears; 0: no such bit */
	/*
	 * Completion is detected by polling the status of PBDMAs and engines,
	 * with the gate closed so that no other TSG is loaded meanwhile.
	 */
	bool tsg_watched;
	/* 0: none, the list is submitted again instead */
	u32 runlist;
};

/* Channels. */

/* The register that has the state of a channel. */
enum nvdebug_channel_form {
	NVDEBUG_CHANNEL_PCCSR,	/* Kepler to Turing */
	NVDEBUG_CHANNEL_CHRAM,	/* channel RAM, Ampere and newer */
};

struct nvdebug_channel_ops {
	enum nvdebug_channel_form form;
	bool per_runlist;	/* ids are local to a runlist */
	bool has_faults;	/* PCCSR has fault bits */
	/* The register with the number of channels; 0: none. */
	u32 count_reg;

	/* Return the register with the channel's state. */
	u32 (*reg)(const struct nvdebug_runlist *runlist, u32 id);
	u32 (*enable_word)(u32 old, bool enable);
	bool (*is_enabled)(u32 state);
	/*
	 * Find the doorbell to ring after enabling a channel, because Host does
	 * not rescan an idle runlist by itself. Returns false if there is no
	 * such register. @runlist is NULL if ids are global.
	 */
	bool (*doorbell)(const struct nvdebug_runlist *runlist, u32 id,
			 u32 *reg, u32 *value);

	/*
	 * Find the instance block of channel @id. Its place comes from the
	 * runlist entry or from a register; in the latter case @entry is not
	 * used.
	 */
	bool instance_in_entry;
	int (*locate_instance)(struct nvdebug_gpu *gpu, u32 id,
			       const struct nvdebug_entry *entry,
			       struct nvdebug_instance_place *place);
};

/* Engines. */

struct nvdebug_status_ops {
	/* Return the status register of an engine or a PBDMA; 0: not public. */
	u32 (*engine_reg)(const struct nvdebug_gpu *gpu,
			  const struct nvdebug_engine *engine);
	u32 (*pbdma_reg)(const struct nvdebug_pbdma *pbdma);
	/*
	 * Return the register with the channel from the @n-th PBDMA of the
	 * engine's runlist; 0: not public.
	 */
	u32 (*channel_reg)(const struct nvdebug_gpu *gpu,
			   const struct nvdebug_engine *engine, u32 n);
	void (*engine)(u32 word, struct nvdebug_engine_status *out);
	void (*pbdma)(u32 word, struct nvdebug_ctx_status *out);
	/*
	 * The VALID bit in a PBDMA's CHANNEL; 0: none, only the status counts.
	 */
	u32 pbdma_channel_valid;
	bool faults_of_all;	/* FAULTED is valid for all engines, not only LCEs */
};

struct nvdebug_copy_ops {
	u32 pce_map;	/* mask of the field in PCE_MAP */
	u32 pces;	/* PCEs in the wiring registers */
	u32 grces;
	u32 lces;	/* LCEs that the registers cover; 0: all */
	/* With a stride of 0 one register has the LCEs of all engines. */
	u32 pce_reg;
	u32 pce_stride;
	u32 grce_reg;
	u32 grce_stride;
	u8 (*pce_lce)(u32 config, u32 pce);
	u8 (*grce_lce)(u32 config, u32 grce);
};

struct nvdebug_geometry_ops {
	/*
	 * Registers with the masks of disabled units, ORed if there are two:
	 * gpc_reg for GPCs, and tpc_reg for the TPCs of GPC 0, followed by a
	 * register for each other GPC.
	 */
	u32 gpc_reg[2];
	u32 tpc_reg[2];
	bool has_ltcs;
};

/* The register with the size of video memory. */
struct nvdebug_video_memory_ops {
	u32 reg;
	u64 (*bytes)(u32 word);
};

struct nvdebug_cwd_ops {
	u32 gpc_tpc_id;		/* registers */
	u32 sm_id;
	u32 gpc_tpc_words;	/* maximum */
	u32 sm_words;
	u32 sms_per_tpc;
	bool has_partitions;
	bool fitted;	/* only as many GPC_TPC_ID words as TPCs need */
};

/* Memory. */

/* The memory that an aperture selects. */
enum nvdebug_place {
	NVDEBUG_PLACE_NONE,
	NVDEBUG_PLACE_VIDEO,
	NVDEBUG_PLACE_SYSTEM,
};

/* Interpretation of addresses. */
struct nvdebug_memory_ops {
	u8 place[4];	/* enum nvdebug_place, by NV_APERTURE_* */
	u8 list_aperture;	/* aperture of override lists */
	/*
	 * A flag bit in system memory addresses, or 0. The other two say
	 * whether the IOMMU, if any, translates addresses with and without the
	 * flag.
	 */
	u64 flag;
	bool flagged_is_translated;
	bool unflagged_is_translated;
};

/* The register with the position of the PRAMIN window. */
struct nvdebug_window {
	u32 reg;
	u32 base;	/* mask of the address field */
	u32 target;	/* mask of the aperture field, if it has one */
};

struct nvdebug_bar_ops {
	/* Read the instance block register of BAR @bar, which is 1 or 2. */
	int (*block)(struct nvdebug_gpu *gpu, int bar,
		     struct nvdebug_bar_block *block);
};

/* Page table formats. */
struct nvdebug_mmu_ops {
	const struct nvdebug_mmu_format *newest; /* version 2 or 3, or NULL */
	/* The newest format with big pages of 128 KiB, or NULL. */
	const struct nvdebug_mmu_format *newest_128k;
	/* Version 1, by the size of big pages, or NULL. */
	const struct nvdebug_mmu_format *version1_64k;
	const struct nvdebug_mmu_format *version1_128k;
};

/* Modes. */

/* A mode is on if any of these bits is set. */
struct nvdebug_mode_ops {
	struct {
		u32 reg;	/* 0: end */
		u32 on;
	} bit[2];
};

/* Chips. */

struct nvdebug_chip_model {
	u16 id;			/* BOOT_0 bits 28:20 */
	const char *name;
};

/* A group of equal chips. */
struct nvdebug_chip {
	const char *generation;
	const struct nvdebug_chip_model *models;	/* ends with a NULL name */
	/*
	 * The reason why a feature is missing or not known well enough to be
	 * used.
	 */
	const char *missing[NVDEBUG_FEATURES];
	const struct nvdebug_ptop_ops *ptop;
	const struct nvdebug_runlist_ops *runlist;
	const struct nvdebug_channel_ops *channel;
	const struct nvdebug_status_ops *status;
	const struct nvdebug_instance_layout *instance;
	const struct nvdebug_context_layout *context;
	const struct nvdebug_copy_ops *copy;
	const struct nvdebug_geometry_ops *geometry;
	/* NULL: no register */
	const struct nvdebug_video_memory_ops *video_memory;
	const struct nvdebug_cwd_ops *cwd;
	const struct nvdebug_submit_ops *submit;
	const struct nvdebug_preempt_ops *preempt;
	const struct nvdebug_memory_ops *memory;
	const struct nvdebug_mode_ops *mig;	/* NULL: no such mode */
	const struct nvdebug_mode_ops *cc;	/* NULL: no such mode */
	/* Ways to reach video memory, if there is any. */
	const struct nvdebug_window *window;
	const struct nvdebug_bar_ops *bars;
	const struct nvdebug_mmu_ops *mmu;
	/* The versions of page tables, as info prints them. */
	const char *page_tables;
	/* Maximum number of channels, where ids are global. */
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

/* Return the chip with this id, and its name. NULL: unknown. */
const struct nvdebug_chip *nvdebug_chip_find(u16 id, const char **name);

/* Return the memory that @aperture selects on this chip. */
enum nvdebug_place nvdebug_mem_place(const struct nvdebug_gpu *gpu, u8 aperture);
/*
 * Return whether the caller must hold gpu->lock to access the memory. That
 * holds for system memory: it may belong to an override list, which is freed
 * when another list is submitted. Accesses to video memory take the lock
 * themselves.
 */
bool nvdebug_mem_needs_lock(const struct nvdebug_gpu *gpu, u8 aperture);

/* Shared by several chips. */

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
int nvdebug_locate_instance_gk104(struct nvdebug_gpu *gpu, u32 id,
				  const struct nvdebug_entry *entry,
				  struct nvdebug_instance_place *place);
u32 nvdebug_channel_reg_ga100(const struct nvdebug_runlist *runlist, u32 id);
int nvdebug_locate_instance_ga100(struct nvdebug_gpu *gpu, u32 id,
				  const struct nvdebug_entry *entry,
				  struct nvdebug_instance_place *place);
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
