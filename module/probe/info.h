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
	const char *away;	/* why no file can be read now, or NULL */
	const char *window;	/* why it may not be moved, or NULL */
	/* Lines of its bus, given @bus; NULL: it is not on that bus. */
	void (*show_pci)(struct seq_file *m, const void *bus);
	void (*show_platform)(struct seq_file *m, const void *bus);
	const void *bus;
};

/* From memory alone. */
void nvdebug_info_show(struct seq_file *m, const struct nvdebug_gpu *gpu,
		       const struct nvdebug_attachment *attachment);

#endif
