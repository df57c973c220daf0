/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The text of the info file: identity and features of a GPU.
 */
#ifndef NVDEBUG_PROBE_INFO_H
#define NVDEBUG_PROBE_INFO_H

#include <linux/types.h>

#define NVDEBUG_INFO_BARS	3

struct nvdebug_gpu;
struct seq_file;

/* Facts that cannot be read from the GPU. */
struct nvdebug_attachment {
	bool identified;	/* else nothing was read yet */
	const char *driver;	/* "-": none */
	u64 bar_bytes[NVDEBUG_INFO_BARS];	/* 0: no such BAR */
	/* The reason why no file can be read now, or NULL. */
	const char *away;
	const char *window;	/* why the window may not move, or NULL */
	/*
	 * Print the lines of the GPU's bus, given @bus. NULL: it is on another
	 * bus.
	 */
	void (*show_pci)(struct seq_file *m, const void *bus);
	void (*show_platform)(struct seq_file *m, const void *bus);
	const void *bus;
};

/* Print the text. Accesses memory only. */
void nvdebug_info_show(struct seq_file *m, const struct nvdebug_gpu *gpu,
		       const struct nvdebug_attachment *attachment);

#endif
