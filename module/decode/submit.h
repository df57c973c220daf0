/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Makes the register values for submitting a runlist. */
#ifndef NVDEBUG_DECODE_SUBMIT_H
#define NVDEBUG_DECODE_SUBMIT_H

#include <linux/types.h>

#include "decode/runlist.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NVDEBUG_SUBMIT_WORDS	3	/* at most */

/*
 * Set @word to the values for consecutive registers, in the order in which to
 * write them: the location of the list, then the word that submits it. @ptr:
 * mask of the address bits that the registers have.
 *
 * Returns the number of words, or -ERANGE if the address or the number of
 * entries does not fit.
 */
int nvdebug_submit_words_gk104(const struct nvdebug_runlist_location *loc,
			       u32 runlist, u64 ptr, u32 *word);
int nvdebug_submit_words_tu102(const struct nvdebug_runlist_location *loc,
			       u32 runlist, u64 ptr, u32 *word);

#ifdef __cplusplus
}
#endif
#endif
