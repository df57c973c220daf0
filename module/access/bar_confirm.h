/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Confirms that a BAR still shows what was found in it, and writes to it. */
#ifndef NVDEBUG_BAR_CONFIRM_H
#define NVDEBUG_BAR_CONFIRM_H

#include <linux/types.h>

struct nvdebug_bar_place;
struct nvdebug_bars;
struct nvdebug_mem_change;

/* Words that may be read after each nvdebug_bar_confirm(). */
#define NVDEBUG_BAR_WORDS	256

/*
 * Read the page table entry of @place again, right before @words of the place
 * are read (at most NVDEBUG_BAR_WORDS). One call is enough for several reads of
 * one page in a row. The directories above the entry and the BAR's register are
 * read again after that many words, or 10 ms.
 *
 * Returns -ENOENT if the place is no longer mapped; it is then forgotten, and
 * the caller searches again. -EAGAIN: the PRAMIN window was moved meanwhile.
 * Other errors are those of nvdebug_pramin_lock().
 *
 * A table that only a BAR shows is read through the BAR without such a check,
 * but only where this session found the table.
 */
int __must_check nvdebug_bar_confirm(struct nvdebug_bars *bars,
				     const struct nvdebug_bar_place *place,
				     size_t words);
/*
 * Compare the first word of @place and write it. With interrupts off all
 * entries are read again, except those in system memory, which are read right
 * before. Errors also as of nvdebug_mem_write().
 */
int __must_check nvdebug_bar_write(struct nvdebug_bars *bars,
				   const struct nvdebug_bar_place *place,
				   const struct nvdebug_mem_change *change);

#endif
