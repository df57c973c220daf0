/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Instance blocks: address space and engine context of a channel.
 */
#ifndef NVDEBUG_DECODE_INSTANCE_H
#define NVDEBUG_DECODE_INSTANCE_H

#include <linux/bits.h>
#include <linux/types.h>

#include "decode/word_ranges.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most words that all ranges of a layout have. */
#define NVDEBUG_INSTANCE_WORDS	12

/* Layout of an instance block. */
struct nvdebug_instance_layout {
	u32 has;		/* NVDEBUG_INSTANCE_HAS_* */
	u8 version;		/* 0: the block has it */
	u32 privileged_word;	/* word of RAMFC */
	u32 privileged_bit;
	u32 dir_hi;		/* mask of the high address bits */
	u32 limit_hi;		/* mask for the limit */
	u32 wfi_hi;		/* mask for the engine context */
	struct nvdebug_word_ranges ranges;	/* words to read */
	/* The words with the address space. */
	struct nvdebug_word_ranges space;
};

#define NVDEBUG_INSTANCE_HAS_RAMFC		BIT(0) /* documented */
#define NVDEBUG_INSTANCE_HAS_LIMIT		BIT(1)
#define NVDEBUG_INSTANCE_HAS_BIG_PAGE_SIZE	BIT(2)
#define NVDEBUG_INSTANCE_HAS_SUBCONTEXTS	BIT(3)

extern const struct nvdebug_instance_layout nvdebug_instance_gk104;
extern const struct nvdebug_instance_layout nvdebug_instance_gm200;
extern const struct nvdebug_instance_layout nvdebug_instance_gp100;
extern const struct nvdebug_instance_layout nvdebug_instance_gv100;
extern const struct nvdebug_instance_layout nvdebug_instance_ga100;
extern const struct nvdebug_instance_layout nvdebug_instance_gh100;

/* The root page directory. */
struct nvdebug_page_dir {
	u64 addr;
	u8 aperture;
	bool is_volatile;
};

struct nvdebug_instance {
	struct nvdebug_page_dir dir;	/* outside of subcontexts */
	u64 limit;		/* last valid address; 0: not in the block */
	u64 wfi;		/* engine context; 0: none */
	u64 valid;		/* a bit per subcontext marked valid */
	u32 pasid;
	u8 version;		/* version of page tables, 1 to 3 */
	u8 big_page_kib;	/* 0: not in the block */
	u8 wfi_aperture;
	bool wfi_virtual;
	u8 veid;
	u8 target_engine;
	bool ats;
	bool privileged;
};

struct nvdebug_subcontext {
	struct nvdebug_page_dir dir;
	u32 pasid;
	u8 veid;
	bool ats;
};

/*
 * Decode @word, the concatenated ranges of the layout. Returns -EINVAL if
 * @words is too small, or -EIO if a word that cannot have such a value is an error
 * code of the register bus.
 */
int nvdebug_instance_decode(const struct nvdebug_instance_layout *layout,
			    const u32 *word, size_t words,
			    struct nvdebug_instance *out);

/*
 * Return the next words to read of the subcontext table: those of the first run
 * of valid subcontexts from @first on. A count of 0: no more.
 */
struct nvdebug_word_range nvdebug_subcontext_range(u64 valid, u32 first);

/*
 * Decode entry @veid of the table. Returns 1, 0 if the entry has no page
 * directory after all, or the errors of nvdebug_instance_decode().
 */
int nvdebug_subcontext_decode(u32 veid, const u32 *word, size_t words,
			      struct nvdebug_subcontext *out);

/*
 * Return the page directory of the compute and graphics work of @instance: that
 * of its subcontext if @table has it (@count entries), else the channel's.
 */
const struct nvdebug_page_dir *
nvdebug_instance_compute_dir(const struct nvdebug_instance *instance,
			     const struct nvdebug_subcontext *table,
			     size_t count);

bool nvdebug_page_dir_same(const struct nvdebug_page_dir *a,
			   const struct nvdebug_page_dir *b);

#ifdef __cplusplus
}
#endif
#endif
