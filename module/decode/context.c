// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/bitfield.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "decode/register.h"
#include "decode/context.h"
#include "hw/ctxsw.h"

const struct nvdebug_context_layout nvdebug_context_gk104 = {
	.ranges = { {
		{ NV_CTXSW_MAIN_IMAGE_CONTEXT_ID, 4 },
	} },
};

const struct nvdebug_context_layout nvdebug_context_gp100 = {
	.has_preemption = true,
	.ranges = { {
		{ NV_CTXSW_MAIN_IMAGE_FULL_PREEMPTION_PTR_HI, 2 },
		{ NV_CTXSW_MAIN_IMAGE_GRAPHICS_PREEMPTION_OPTIONS, 2 },
		{ NV_CTXSW_MAIN_IMAGE_NUM_WFI_SAVE_OPERATIONS, 4 },
		{ NV_CTXSW_MAIN_IMAGE_CONTEXT_ID, 4 },
	} },
};

const struct nvdebug_context_layout nvdebug_context_gv100 = {
	.has_type = true,
	.has_preemption = true,
	.pointer_hi = NV_CTXSW_MAIN_IMAGE_CONTEXT_BUFFER_PTR_HI_V_GV100,
	.ranges = { {
		{ NV_CTXSW_MAIN_IMAGE_CTL, 1 },
		{ NV_CTXSW_MAIN_IMAGE_FULL_PREEMPTION_PTR_HI, 2 },
		{ NV_CTXSW_MAIN_IMAGE_GRAPHICS_PREEMPTION_OPTIONS, 2 },
		{ NV_CTXSW_MAIN_IMAGE_NUM_WFI_SAVE_OPERATIONS, 4 },
		{ NV_CTXSW_MAIN_IMAGE_CONTEXT_ID, 4 },
	} },
};

const struct nvdebug_context_layout nvdebug_context_gh100 = {
	.has_type = true,
	.has_preemption = true,
	.pointer_hi = NV_CTXSW_MAIN_IMAGE_CONTEXT_BUFFER_PTR_HI_V_GH100,
	.ranges = { {
		{ NV_CTXSW_MAIN_IMAGE_CTL, 1 },
		{ NV_CTXSW_MAIN_IMAGE_FULL_PREEMPTION_PTR_HI, 2 },
		{ NV_CTXSW_MAIN_IMAGE_GRAPHICS_PREEMPTION_OPTIONS, 2 },
		{ NV_CTXSW_MAIN_IMAGE_NUM_WFI_SAVE_OPERATIONS, 4 },
		{ NV_CTXSW_MAIN_IMAGE_CONTEXT_ID, 4 },
	} },
};

const struct nvdebug_word_ranges nvdebug_context_pointer_ranges = { {
	{ NV_CTXSW_MAIN_IMAGE_CTL, 1 },
	{ NV_CTXSW_MAIN_IMAGE_CONTEXT_BUFFER_PTR_HI, 2 },
} };

bool nvdebug_context_pointer_decode(const struct nvdebug_context_layout *layout,
				    const u32 *word, u64 *image)
{
	const struct nvdebug_word_ranges *ranges =
		&nvdebug_context_pointer_ranges;
	u32 ctl = nvdebug_ranges_word(ranges, word, NV_CTXSW_MAIN_IMAGE_CTL);
	u32 hi = nvdebug_ranges_word(ranges, word,
				     NV_CTXSW_MAIN_IMAGE_CONTEXT_BUFFER_PTR_HI);
	u32 lo = nvdebug_ranges_word(ranges, word,
				     NV_CTXSW_MAIN_IMAGE_CONTEXT_BUFFER_PTR);

	*image = (u64)(hi & layout->pointer_hi) << 32 | lo;
	return FIELD_GET(NV_CTXSW_MAIN_IMAGE_CTL_TYPE, ctl) ==
	       NV_CTXSW_MAIN_IMAGE_CTL_TYPE_PER_VEID_HEADER;
}

/*
 * Return whether a word is an error code of the register bus. The low word of
 * the save area's address may have any value. The word before it is read with
 * it, and shows an error.
 */
static bool has_bus_error(const struct nvdebug_word_ranges *ranges,
			  const u32 *word)
{
	const struct nvdebug_word_range *range = ranges->range;
	u32 i, k;

	for (i = 0; i < NVDEBUG_WORD_RANGES; i++)
		for (k = 0; k < range[i].count; k++, word++)
			if (range[i].first + k !=
			    NV_CTXSW_MAIN_IMAGE_FULL_PREEMPTION_PTR &&
			    nvdebug_reg_value_check(*word) == -EIO)
				return true;
	return false;
}

int nvdebug_context_decode(const struct nvdebug_context_layout *layout,
			   const u32 *word, size_t words,
			   struct nvdebug_context *out)
{
	const struct nvdebug_word_ranges *ranges = &layout->ranges;

	memset(out, 0, sizeof(*out));
	if (words < nvdebug_ranges_words(ranges))
		return -EINVAL;
	if (has_bus_error(ranges, word))
		return -EIO;
	if (nvdebug_ranges_word(ranges, word, NV_CTXSW_MAIN_IMAGE_MAGIC_VALUE) !=
	    NV_CTXSW_MAIN_IMAGE_MAGIC_VALUE_V_VALUE)
		return -EBADMSG;

#define WORD(name) nvdebug_ranges_word(ranges, word, NV_CTXSW_MAIN_IMAGE_##name)
#define FIELD(name, field) \
	FIELD_GET(NV_CTXSW_MAIN_IMAGE_##name##_##field, WORD(name))
	out->id = WORD(CONTEXT_ID);
	out->saves = WORD(NUM_SAVE_OPERATIONS);
	out->restores = WORD(NUM_RESTORE_OPERATIONS);
	out->wfi_saves = WORD(NUM_WFI_SAVE_OPERATIONS);
	out->cta_saves = WORD(NUM_CTA_SAVE_OPERATIONS);
	out->gfxp_saves = WORD(NUM_GFXP_SAVE_OPERATIONS);
	out->cilp_saves = WORD(NUM_CILP_SAVE_OPERATIONS);
	out->type = FIELD(CTL, TYPE);
	out->graphics_preemption =
		FIELD(GRAPHICS_PREEMPTION_OPTIONS, CONTROL);
	out->compute_preemption = FIELD(COMPUTE_PREEMPTION_OPTIONS, CONTROL);
	out->save_area = WORD(FULL_PREEMPTION_PTR) ||
			 (layout->has_type && FIELD(FULL_PREEMPTION_PTR_HI, V));
#undef FIELD
#undef WORD
	return 0;
}

const char *nvdebug_context_type_name(u32 type)
{
	switch (type) {
	case NV_CTXSW_MAIN_IMAGE_CTL_TYPE_UNDEFINED:
		return "undefined";
	case NV_CTXSW_MAIN_IMAGE_CTL_TYPE_OPENGL:
		return "OpenGL";
	case NV_CTXSW_MAIN_IMAGE_CTL_TYPE_DX9:
		return "DX9";
	case NV_CTXSW_MAIN_IMAGE_CTL_TYPE_DX10:
		return "DX10";
	case NV_CTXSW_MAIN_IMAGE_CTL_TYPE_DX11:
		return "DX11";
	case NV_CTXSW_MAIN_IMAGE_CTL_TYPE_COMPUTE:
		return "compute";
	case NV_CTXSW_MAIN_IMAGE_CTL_TYPE_PER_VEID_HEADER:
		return "per-VEID header";
	default:
		return NULL;
	}
}

static const char *name_of(const char * const *names, size_t count, u32 value)
{
	return value < count ? names[value] : NULL;
}

const char *nvdebug_graphics_preemption_name(u32 mode)
{
	static const char * const names[] = { "WFI", "GFXP" };

	return name_of(names, ARRAY_SIZE(names), mode);
}

const char *nvdebug_compute_preemption_name(u32 mode)
{
	static const char * const names[] = { "WFI", "CTA", "CILP" };

	return name_of(names, ARRAY_SIZE(names), mode);
}
