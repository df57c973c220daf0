/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Converts microseconds to the fields of a TSG header. */
#ifndef NVDEBUG_DECODE_TIMESLICE_H
#define NVDEBUG_DECODE_TIMESLICE_H

#include <linux/types.h>

#include "decode/targets.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Parse a word as microseconds, with up to three decimals ("2000", "1.024").
 * *@ns: nanoseconds. Returns 0, -EINVAL for any other word, or -ERANGE for more
 * than 2^32 microseconds.
 */
int nvdebug_cursor_microseconds(struct nvdebug_cursor *cur, u64 *ns);

/*
 * Find the longest timeslice not longer than @ns, with the finest scale.
 * -ERANGE if @ns is less than the shortest timeslice or more than the longest.
 */
int nvdebug_timeslice_encode(u64 ns, u8 *timeout, u8 *scale);

/* Replace the timeslice in word 0 of a TSG header, for each form of entries. */
u32 nvdebug_entry8_set_timeslice(u32 word, u8 timeout, u8 scale);
u32 nvdebug_entry16_set_timeslice(u32 word, u8 timeout, u8 scale);

#ifdef __cplusplus
}
#endif
#endif
