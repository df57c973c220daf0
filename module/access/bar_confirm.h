/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Whether a BAR still shows what was found in it, and writes to that. */
#ifndef NVDEBUG_BAR_CONFIRM_H
#define NVDEBUG_BAR_CONFIRM_H

#include <linux/types.h>

struct nvdebug_bar_place;
struct nvdebug_bars;
struct nvdebug_mem_change;

/* Words to read after each nvdebug_bar_confirm(). */
#define NVDEBUG_BAR_WORDS	256

/*
 * Read the page table entry of @place again, right before @words of it are read,
 * at most NVDEBUG_BAR_WORDS; once for what is read of one page in a row. The
 * directories above it and the BAR's register are read again after that many
 * words, or 10 ms. -ENOENT: it is not there any more, and forgotten; find it
 * again. -EAGAIN: the PRAMIN window was moved meanwhile. Other errors are those
 * of nvdebug_pramin_lock().
 *
 * Entries in a table that only a BAR shows are read there without such a check,
 * but only where this session found it.
 */
int __must_check nvdebug_bar_confirm(struct nvdebug_bars *bars,
				     const struct nvdebug_bar_place *place,
				     size_t words);
/*
 * Compare and write its first word: with interrupts off all entries are read
 * again, except those in system memory, which are read right before. Errors
 * also as of nvdebug_mem_write().
 */
int __must_check nvdebug_bar_write(struct nvdebug_bars *bars,
				   const struct nvdebug_bar_place *place,
				   const struct nvdebug_mem_change *change);

#endif
