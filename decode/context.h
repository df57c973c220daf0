/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Context images: what the firmware of the graphics engine keeps of a context
 * and how that may be interrupted.
 */
#ifndef NVDEBUG_DECODE_CONTEXT_H
#define NVDEBUG_DECODE_CONTEXT_H

#include <linux/types.h>

#include "decode/words.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Most words that the runs of a layout have together. */
#define NVDEBUG_CONTEXT_WORDS	13

/* What the header of a context image has. */
struct nvdebug_context_layout {
	bool has_type;		/* and per-VEID headers */
	bool has_preemption;	/* modes, and counts of each */
	u32 pointer_hi;		/* mask of the high bits in a per-VEID header */
	struct nvdebug_runs runs;	/* what to read */
};

extern const struct nvdebug_context_layout nvdebug_context_gk104;
extern const struct nvdebug_context_layout nvdebug_context_gp100;
extern const struct nvdebug_context_layout nvdebug_context_gv100;
extern const struct nvdebug_context_layout nvdebug_context_gh100;

/*
 * What to read first, where there are per-VEID headers: CTL, which is also the
 * first run of an image there, and what only a header has.
 */
extern const struct nvdebug_runs nvdebug_context_pointer_runs;
#define NVDEBUG_CONTEXT_POINTER_WORDS	3

struct nvdebug_context {
	u32 id;
	u32 saves;
	u32 restores;
	u32 wfi_saves;
	u32 cta_saves;
	u32 gfxp_saves;
	u32 cilp_saves;
	u8 type;
	u8 graphics_preemption;
	u8 compute_preemption;
	bool save_area;		/* for preemption amid work */
};

/*
 * Does @word, of nvdebug_context_pointer_runs, belong to a per-VEID header?
 * Then the virtual address of the image is *@image.
 */
bool nvdebug_context_pointer_decode(const struct nvdebug_context_layout *layout,
				    const u32 *word, u64 *image);

/*
 * Decode @word, the words of the layout's runs one after the other. Returns
 * -EINVAL if @words is fewer than those, -ENOEXEC if the magic value is
 * missing, or -EIO if some words are answers of the register bus.
 */
int nvdebug_context_decode(const struct nvdebug_context_layout *layout,
			   const u32 *word, size_t words,
			   struct nvdebug_context *out);

/* NULL for values that have no name. */
const char *nvdebug_context_type_name(u32 type);
const char *nvdebug_graphics_preemption_name(u32 mode);
const char *nvdebug_compute_preemption_name(u32 mode);

#ifdef __cplusplus
}
#endif
#endif
