// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "decode/targets.h"
#include "decode/translation.h"
#include "hw/mmu.h"
#include "hw/ram.h"

static const char * const apertures[] = { "vid", "coh", "ncoh" };
static const u8 aperture_codes[] = {
	NV_APERTURE_VID, NV_APERTURE_COH, NV_APERTURE_NCOH,
};

enum { BASE, VERSION1, VERSION2, PAGES_64K, PAGES_128K };
static const char * const options[] = {
	[BASE] = "base",
	[VERSION1] = "v1",
	[VERSION2] = "v2",
	[PAGES_64K] = "64k",
	[PAGES_128K] = "128k",
};

static bool cursor_at_digit(const struct nvdebug_cursor *cur)
{
	return cur->at < cur->end && *cur->at >= '0' && *cur->at <= '9';
}

/* Parse the channel after "RUNLIST:". */
static int take_channel(struct nvdebug_cursor *cur, u64 runlist,
			struct nvdebug_translation *out, bool *too_large)
{
	u64 channel;
	int ret = nvdebug_cursor_number(cur, U32_MAX, &channel, too_large);

	*too_large |= runlist > U32_MAX;
	out->by_channel = true;
	out->runlist = runlist;
	out->channel = channel;
	return ret;
}

static int take_aperture(struct nvdebug_cursor *cur,
			 struct nvdebug_translation *out)
{
	int choice = nvdebug_cursor_choice(cur, apertures,
					   ARRAY_SIZE(apertures));

	if (choice < 0)
		return choice;
	out->aperture = aperture_codes[choice];
	return 0;
}

static int take_space(struct nvdebug_cursor *cur,
		      struct nvdebug_translation *out, bool *too_large)
{
	u64 number;
	int ret = nvdebug_cursor_number(cur, U64_MAX, &number, too_large);

	if (ret)
		return ret;
	out->pdb = number;
	out->aperture = NV_APERTURE_VID;
	if (cur->at < cur->end && *cur->at == ':') {
		cur->at++;
		if (cursor_at_digit(cur))
			ret = take_channel(cur, number, out, too_large);
		else
			ret = take_aperture(cur, out);
	}
	if (!ret && !nvdebug_cursor_at_end_of_word(cur))
		ret = -EINVAL;
	return ret;
}

/* Parse an option. Each one is accepted once, and only where it applies. */
static int take_option(struct nvdebug_cursor *cur,
		       struct nvdebug_translation *out)
{
	int choice = nvdebug_cursor_choice(cur, options, ARRAY_SIZE(options));

	if (choice < 0 || (choice != BASE && out->by_channel))
		return -EINVAL;
	switch (choice) {
	case BASE:
		if (!out->by_channel || out->base)
			return -EINVAL;
		out->base = true;
		return 0;
	case VERSION1:
	case VERSION2:
		if (out->version)
			return -EINVAL;
		out->version = choice == VERSION1 ? 1 : 2;
		return 0;
	default:
		if (out->big_page_kib)
			return -EINVAL;
		out->big_page_kib = choice == PAGES_64K ? 64 : 128;
		return 0;
	}
}

int nvdebug_translation_parse(const char *text, size_t len,
			      struct nvdebug_translation *out)
{
	struct nvdebug_cursor cur = { text, text + len };
	bool too_large = false;
	int ret;

	memset(out, 0, sizeof(*out));
	nvdebug_cursor_more(&cur);
	ret = take_space(&cur, out, &too_large);
	if (ret)
		return ret;
	nvdebug_cursor_more(&cur);
	ret = nvdebug_cursor_number(&cur, U64_MAX, &out->va, &too_large);
	if (ret || !nvdebug_cursor_at_end_of_word(&cur))
		return -EINVAL;
	while (nvdebug_cursor_more(&cur)) {
		ret = take_option(&cur, out);
		if (ret)
			return ret;
	}
	if (too_large)
		return -ERANGE;
	return !out->by_channel && out->pdb & (NV_MMU_ROOT_ALIGN - 1) ?
	       -EINVAL : 0;
}
