/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A view: a file that is read. A snapshot is taken when it is opened, and
 * printed from memory alone, record by record.
 */
#ifndef NVDEBUG_CORE_VIEW_H
#define NVDEBUG_CORE_VIEW_H

#include <linux/types.h>

struct nvdebug_gpu;
struct seq_file;

/* What every snapshot begins with. */
struct nvdebug_snapshot {
	size_t records;	/* how many to show; set by the view */
	bool hide;	/* print no addresses; set by who shows it */
};

struct nvdebug_view {
	/* Does taking it access the GPU? */
	bool live;
	/* @id: the number in the file's name. An ERR_PTR() on failure. */
	struct nvdebug_snapshot *(*take)(struct nvdebug_gpu *gpu, u32 id);
	void (*show)(struct seq_file *m, struct nvdebug_gpu *gpu,
		     const struct nvdebug_snapshot *snapshot, size_t record);
	void (*free)(struct nvdebug_snapshot *snapshot);
};

#endif
