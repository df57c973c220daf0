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
 * Undo record of a leased request. First member of the control's own struct,
 * which is one allocation, freed with kvfree().
 */
struct nvdebug_undo {
	struct list_head node;
	/*
	 * Restore what is still as the request left it, and log that. Not
	 * interruptible; also works during removal of the GPU's files. Called
	 * without gpu->lock, after nvdebug_gpu_begin_undo().
	 */
	void (*run)(struct nvdebug_gpu *gpu, struct nvdebug_undo *undo);
};

struct nvdebug_control {
	size_t text_max;	/* bytes in a request */
	/* It changes the GPU: needs the rights listed in docs/proc.md. */
	bool changes;
	/* A request can be undone, so it may be a lease. */
	bool leases;
	/* A request has an answer, read from the same open file. */
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
