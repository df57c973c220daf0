// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/bitfield.h>
#include <linux/errno.h>

#include "decode/submit.h"
#include "hw/pfifo.h"
#include "hw/runlist.h"

static bool location_fits(const struct nvdebug_runlist_location *loc, u64 ptr)
{
	return !(loc->addr & ~ptr) &&
	       loc->entries <= FIELD_MAX(NV_RUNLIST_SUBMIT_LENGTH);
}

int nvdebug_submit_words_gk104(const struct nvdebug_runlist_location *loc,
			       u32 runlist, u64 ptr, u32 *word)
{
	if (!location_fits(loc, ptr))
		return -ERANGE;
	word[0] = FIELD_PREP(NV_PFIFO_RUNLIST_BASE_PTR,
			     loc->addr >> NV_PFIFO_RUNLIST_BASE_PTR_SHIFT) |
		  FIELD_PREP(NV_PFIFO_RUNLIST_BASE_TARGET, loc->aperture);
	word[1] = FIELD_PREP(NV_PFIFO_RUNLIST_LENGTH, loc->entries) |
		  FIELD_PREP(NV_PFIFO_RUNLIST_ID, runlist);
	return 2;
}

int nvdebug_submit_words_tu102(const struct nvdebug_runlist_location *loc,
			       u32 runlist, u64 ptr, u32 *word)
{
	if (!location_fits(loc, ptr))
		return -ERANGE;
	word[0] = (u32)loc->addr |
		  FIELD_PREP(NV_RUNLIST_SUBMIT_BASE_LO_TARGET, loc->aperture);
	word[1] = loc->addr >> 32;
	word[2] = FIELD_PREP(NV_RUNLIST_SUBMIT_LENGTH, loc->entries);
	return 3;
}
