/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Parser for `translate`: a virtual address and its address space.
 */
#ifndef NVDEBUG_DECODE_TRANSLATION_H
#define NVDEBUG_DECODE_TRANSLATION_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nvdebug_translation {
	bool by_channel;
	u32 runlist;		/* if by_channel */
	u32 channel;
	/* The channel's tables are wanted, and not the subcontext's. */
	bool base;
	u64 pdb;		/* if not by_channel */
	u8 aperture;
	u8 version;		/* 0: not given */
	u8 big_page_kib;	/* 0: not given */
	u64 va;
};

/*
 * Parse @len bytes of @text:
 *   PDB[:APERTURE] VA [v1|v2] [64k|128k]
 *   RUNLIST:CHANNEL VA [base]
 * Returns 0, -EINVAL for anything else, or -ERANGE for a number that does not
 * fit.
 */
int nvdebug_translation_parse(const char *text, size_t len,
			      struct nvdebug_translation *out);

#ifdef __cplusplus
}
#endif
#endif
