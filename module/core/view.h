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

/* The first member of every snapshot. */
struct nvdebug_snapshot {
	size_t records;	/* set by the view */
	/* The caller of take() sets these. */
	bool hide;	/* print no addresses */
	bool hide_words;	/* print no undecoded memory either */
};

struct nvdebug_view {
	/* take() accesses the GPU. */
	bool live;
	/*
	 * Take a snapshot. @id is the number in the file's name. An ERR_PTR()
	 * on failure.
	 */
	struct nvdebug_snapshot *(*take)(struct nvdebug_gpu *gpu, u32 id);
	void (*show)(struct seq_file *m, struct nvdebug_gpu *gpu,
		     const struct nvdebug_snapshot *snapshot, size_t record);
	void (*free)(struct nvdebug_snapshot *snapshot);
};

#endif
