/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Context images: the state of a context, saved by firmware of the graphics
 * engine, and its preemption modes.
 */
#ifndef NVDEBUG_DECODE_CONTEXT_H
#define NVDEBUG_DECODE_CONTEXT_H

#include <linux/types.h>

#include "decode/word_ranges.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most words that all ranges of a layout have. */
#define NVDEBUG_CONTEXT_WORDS	13

/* Layout of the header of a context image. */
struct nvdebug_context_layout {
	bool has_type;		/* the chip also has per-VEID headers */
	bool has_preemption;	/* it has modes and counters of preemption */
	u32 pointer_hi;		/* mask of a header's high pointer bits */
	struct nvdebug_word_ranges ranges;	/* words to read */
};

extern const struct nvdebug_context_layout nvdebug_context_gk104;
extern const struct nvdebug_context_layout nvdebug_context_gp100;
extern const struct nvdebug_context_layout nvdebug_context_gv100;
extern const struct nvdebug_context_layout nvdebug_context_gh100;

/*
 * The words to read first where there are per-VEID headers: CTL, which is also
 * the first range of an image there, and the pointer in a header.
 */
extern const struct nvdebug_word_ranges nvdebug_context_pointer_ranges;
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
	bool save_area;		/* for preemption in the middle of work */
};

/*
 * Return whether @word, the words of nvdebug_context_pointer_ranges, is a
 * per-VEID header. Then *@image is the virtual address of the image.
 */
bool nvdebug_context_pointer_decode(const struct nvdebug_context_layout *layout,
				    const u32 *word, u64 *image);

/*
 * Decode @word, the concatenated ranges of the layout. Returns -EINVAL if
 * @words is too small, -EBADMSG if the magic value is missing, or -EIO if some
 * words are error codes of the register bus.
 */
int nvdebug_context_decode(const struct nvdebug_context_layout *layout,
			   const u32 *word, size_t words,
			   struct nvdebug_context *out);

/* Return the name of a value, NULL for an undefined value. */
const char *nvdebug_context_type_name(u32 type);
const char *nvdebug_graphics_preemption_name(u32 mode);
const char *nvdebug_compute_preemption_name(u32 mode);

#ifdef __cplusplus
}
#endif
#endif
