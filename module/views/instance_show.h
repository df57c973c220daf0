/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Prints boxes of instance blocks, subcontexts and contexts. */
#ifndef NVDEBUG_INSTANCE_SHOW_H
#define NVDEBUG_INSTANCE_SHOW_H

#include <linux/types.h>

struct nvdebug_block;
struct nvdebug_chip;
struct nvdebug_entry;
struct seq_file;

/*
 * Claim shared objects: they are printed below the first channel that claims
 * them.
 */
void nvdebug_block_claim(struct nvdebug_block *block, u32 at);

/*
 * Print the boxes below the channel of entry[@at]. @block is NULL if it has
 * none.
 */
void nvdebug_block_show(struct seq_file *m, const struct nvdebug_chip *chip,
			const struct nvdebug_block *block, int indent,
			const struct nvdebug_entry *entry, u32 at, bool hide);

#endif
