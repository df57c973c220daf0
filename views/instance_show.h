/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Boxes of instance blocks and of what they lead to.
 */
#ifndef NVDEBUG_INSTANCE_SHOW_H
#define NVDEBUG_INSTANCE_SHOW_H

#include <linux/types.h>

struct nvdebug_block;
struct nvdebug_chip;
struct nvdebug_entry;
struct seq_file;

/* What several channels have is printed below the first that claims it. */
void nvdebug_block_claim(struct nvdebug_block *block, u32 at);

/*
 * The boxes below the channel of entry[@at]. @block is NULL for one that has
 * none.
 */
void nvdebug_block_show(struct seq_file *m, const struct nvdebug_chip *chip,
			const struct nvdebug_block *block, int indent,
			const struct nvdebug_entry *entry, u32 at, bool hide);

#endif
