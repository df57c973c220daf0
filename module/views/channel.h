/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Prints the lines of a channel in a box. */
#ifndef NVDEBUG_VIEWS_CHANNEL_H
#define NVDEBUG_VIEWS_CHANNEL_H

#include <linux/types.h>

struct nvdebug_box;
struct nvdebug_chip;
struct nvdebug_entry;
struct nvdebug_instance_place;

/*
 * Print the channel's state, as read, and its instance block, then its entry.
 */
void nvdebug_channel_show(const struct nvdebug_box *box,
			  const struct nvdebug_chip *chip, u32 state,
			  const struct nvdebug_instance_place *inst,
			  const struct nvdebug_entry *entry, bool hide);
/* Print the channel's entry only. */
void nvdebug_channel_show_entry(const struct nvdebug_box *box,
				const struct nvdebug_chip *chip,
				const struct nvdebug_entry *entry, bool hide);

#endif
