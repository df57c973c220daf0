/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * A control: a file that is written. One write is one request.
 */
#ifndef NVDEBUG_CORE_CONTROL_H
#define NVDEBUG_CORE_CONTROL_H

#include <linux/list.h>
#include <linux/types.h>

struct nvdebug_gpu;
struct seq_buf;

/*
 * Undo record of a leased request. It is the first member of the control's own
 * struct, which is one allocation, freed with kvfree().
 */
struct nvdebug_undo {
	struct list_head node;
	/*
	 * Restore everything that is still as the request left it, and log
	 * that. Not interruptible; also works during removal of the GPU's
	 * files. Called without gpu->lock, after nvdebug_gpu_begin_undo().
	 */
	void (*run)(struct nvdebug_gpu *gpu, struct nvdebug_undo *undo);
};

struct nvdebug_control {
	size_t text_max;	/* bytes in a request */
	/*
	 * The control changes the GPU, so it needs the rights in docs/proc.md.
	 */
	bool changes;
	/* Requests can be undone, so they may be leases. */
	bool leases;
	/* Requests have answers, read from the same open file. */
	bool answers;
	/*
	 * Execute the request in @text (@len bytes, NUL-terminated). @answer is
	 * NULL unless ->answers; an overflow fails the request with -EFBIG.
	 * @undo is NULL unless the request is a lease; on success *@undo is the
	 * undo record, owned by the caller. Called without gpu->lock and
	 * outside of nvdebug_gpu_begin().
	 */
	int (*act)(struct nvdebug_gpu *gpu, const char *text, size_t len,
		   struct seq_buf *answer, struct nvdebug_undo **undo);
};

#endif
