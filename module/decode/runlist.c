// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/bitfield.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "decode/register.h"
#include "decode/runlist.h"
#include "hw/pfifo.h"
#include "hw/ram.h"
#include "hw/runlist.h"

const char *nvdebug_aperture_name(u32 aperture)
{
	switch (aperture) {
	case NV_APERTURE_VID:
		return "vid";
	case NV_APERTURE_COH:
		return "coh";
	case NV_APERTURE_NCOH:
		return "ncoh";
	default:
		return "invalid";
	}
}

void nvdebug_runlist_location_gk104(u32 base, u32 runlist,
				    struct nvdebug_runlist_location *loc)
{
	loc->addr = (u64)FIELD_GET(NV_PFIFO_ENG_RUNLIST_BASE_PTR, base) << 12;
	loc->aperture = FIELD_GET(NV_PFIFO_ENG_RUNLIST_BASE_TARGET, base);
	loc->entries = FIELD_GET(NV_PFIFO_ENG_RUNLIST_LENGTH, runlist);
	loc->pending = runlist & NV_PFIFO_ENG_RUNLIST_PENDING;
}

void nvdebug_runlist_location_tu102(u32 lo, u32 hi, u32 submit, u32 info,
				    u32 ptr_lo, u32 ptr_hi,
				    struct nvdebug_runlist_location *loc)
{
	loc->addr = (u64)(hi & ptr_hi) << 32 | (lo & ptr_lo);
	loc->aperture = FIELD_GET(NV_RUNLIST_SUBMIT_BASE_LO_TARGET, lo);
	loc->entries = FIELD_GET(NV_RUNLIST_SUBMIT_LENGTH, submit);
	loc->pending = info & NV_RUNLIST_SUBMIT_INFO_PENDING;
}

bool nvdebug_runlist_location_same(const struct nvdebug_runlist_location *a,
				   const struct nvdebug_runlist_location *b)
{
	return a->addr == b->addr && a->aperture == b->aperture &&
	       a->entries == b->entries;
}

int nvdebug_entry8_decode(const u32 *word, size_t words,
			  struct nvdebug_entry *entry)
{
	memset(entry, 0, sizeof(*entry));
	if (words < NV_RAMRL8_WORDS)
		return -EINVAL;

	if (word[0] & NV_RAMRL8_0_TYPE_TSG) {
		if (word[1])
			return 0;
		entry->kind = NVDEBUG_ENTRY_TSG;
		entry->scale = FIELD_GET(NV_RAMRL8_0_TIMESLICE_SCALE, word[0]);
		entry->timeout =
			FIELD_GET(NV_RAMRL8_0_TIMESLICE_TIMEOUT, word[0]);
		entry->length = FIELD_GET(NV_RAMRL8_0_TSG_LENGTH, word[0]);
	} else {
		/* Word 1 may have an instance pointer, which is not used. */
		if (word[0] & NV_RAMRL8_0_CHANNEL_ZERO)
			return 0;
		entry->kind = NVDEBUG_ENTRY_CHANNEL;
	}
	entry->id = FIELD_GET(NV_RAMRL8_0_ID, word[0]);
	return 0;
}

int nvdebug_entry16_decode(const u32 *word, size_t words,
			   struct nvdebug_entry *entry)
{
	memset(entry, 0, sizeof(*entry));
	if (words < NV_RAMRL16_WORDS)
		return -EINVAL;

	if (word[0] & NV_RAMRL16_0_TYPE_TSG) {
		if (word[0] & NV_RAMRL16_0_TSG_ZERO ||
		    word[1] & NV_RAMRL16_1_TSG_ZERO ||
		    word[2] & NV_RAMRL16_2_TSG_ZERO ||
		    word[3] & NV_RAMRL16_3_TSG_ZERO)
			return 0;
		entry->kind = NVDEBUG_ENTRY_TSG;
		entry->scale =
			FIELD_GET(NV_RAMRL16_0_TSG_TIMESLICE_SCALE, word[0]);
		entry->timeout =
			FIELD_GET(NV_RAMRL16_0_TSG_TIMESLICE_TIMEOUT, word[0]);
		entry->length = FIELD_GET(NV_RAMRL16_1_TSG_LENGTH, word[1]);
	} else {
		entry->kind = NVDEBUG_ENTRY_CHANNEL;
		entry->runqueue =
			FIELD_GET(NV_RAMRL16_0_CHAN_RUNQUEUE_SELECTOR, word[0]);
		entry->inst_aperture =
			FIELD_GET(NV_RAMRL16_0_CHAN_INST_TARGET, word[0]);
		entry->inst = (u64)word[3] << 32 |
			      (word[2] & NV_RAMRL16_2_CHAN_INST_PTR_LO);
	}
	entry->id = FIELD_GET(NV_RAMRL16_2_ID, word[2]);
	return 0;
}

int nvdebug_entry16_decode_gb10b(const u32 *word, size_t words,
				 struct nvdebug_entry *entry)
{
	int ret = nvdebug_entry16_decode(word, words, entry);

	if (ret || entry->kind != NVDEBUG_ENTRY_CHANNEL)
		return ret;
	entry->inst &= (u64)NV_RAMRL16_3_CHAN_INST_PTR_HI_GB10B << 32 | U32_MAX;
	entry->casid = FIELD_GET(NV_RAMRL16_3_CHAN_CASID_GB10B, word[3]);
	return 0;
}

bool nvdebug_entry8_skip(const u32 *word, size_t i)
{
	return i % NV_RAMRL8_WORDS == 1 &&
	       !(word[i - 1] & (NV_RAMRL8_0_TYPE_TSG |
				NV_RAMRL8_0_CHANNEL_ZERO));
}

bool nvdebug_entry16_skip(const u32 *word, size_t i)
{
	return i % NV_RAMRL16_WORDS == 1 &&
	       !(word[i - 1] & NV_RAMRL16_0_TYPE_TSG);
}

/* Return whether word 0 or 2 of an entry looks like an error code. */
static bool is_suspect(const u32 *entry)
{
	return nvdebug_reg_value_check(entry[0]) == -EIO ||
	       nvdebug_reg_value_check(entry[2]) == -EIO;
}

bool nvdebug_entry16_skip_gv100(const u32 *word, size_t i)
{
	if (i % NV_RAMRL16_WORDS != 3)
		return nvdebug_entry16_skip(word, i);
	return !(word[i - 3] & NV_RAMRL16_0_TYPE_TSG) &&
	       !is_suspect(word + i - 3);
}

bool nvdebug_entry_skip_all_but_id(const u32 *word, size_t i)
{
	return i % 2 &&
	       (i % NV_RAMRL16_WORDS != 3 || !is_suspect(word + i - 3));
}

bool nvdebug_entry8_is_pri_error(const u32 *word, size_t words)
{
	return words >= NV_RAMRL8_WORDS &&
	       (nvdebug_reg_value_check(word[0]) == -EIO ||
		nvdebug_reg_value_check(word[1]) == -EIO);
}

bool nvdebug_entry16_is_pri_error(const u32 *word, size_t words)
{
	return words >= NV_RAMRL16_WORDS &&
	       (nvdebug_reg_value_check(word[1]) == -EIO ||
		nvdebug_reg_value_check(word[3]) == -EIO);
}

size_t nvdebug_tsg_members(const struct nvdebug_entry *entry, size_t entries,
			   size_t at)
{
	size_t n = 0;

	if (at >= entries || entry[at].kind != NVDEBUG_ENTRY_TSG)
		return 0;
	while (n < entry[at].length && n < entries - at - 1 &&
	       entry[at + 1 + n].kind == NVDEBUG_ENTRY_CHANNEL)
		n++;
	return n;
}

u64 nvdebug_timeslice_ns(u32 timeout, u32 scale)
{
	/* The fields have 8 and 4 bits. */
	timeout &= 0xff;
	scale &= 0xf;
	return (timeout ? (u64)timeout << scale : 1) * NV_TIMESLICE_UNIT_NS;
}
