/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Prints boxes of "| Key: value |" lines, the look of Listing 1 of Bakita and
 * Anderson (RTAS 2024).
 */
#ifndef NVDEBUG_BOX_H
#define NVDEBUG_BOX_H

#include <linux/compiler_attributes.h>
#include <linux/types.h>

struct seq_file;

/* The width of a line: it fits "Status Name" with the longest name. */
#define NVDEBUG_BOX_WIDTH	48

struct nvdebug_box {
	struct seq_file *m;
	int indent;
};

__printf(4, 5)
void nvdebug_box_open(struct nvdebug_box *box, int indent, int dashes,
		      const char *title, ...);
__printf(3, 4)
void nvdebug_box_line(const struct nvdebug_box *box, const char *key,
		      const char *value, ...);
void nvdebug_box_flag(const struct nvdebug_box *box, const char *key,
		      bool value);
/* Print an address, or "hidden" if @hide. */
void nvdebug_box_address(const struct nvdebug_box *box, const char *key,
			 u64 address, bool hide);
/* Print an address with at least @digits digits instead of 8. */
void nvdebug_box_wide_address(const struct nvdebug_box *box, const char *key,
			      int digits, u64 address, bool hide);
void nvdebug_box_close(const struct nvdebug_box *box);

#endif
