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
 * What a request changed, and how that is put back. It is the first member of
 * what a control remembers, which is one allocation for kvfree().
 */
struct nvdebug_undo {
	struct list_head node;
	/*
	 * Put back what is still as the request left it, and say so in the log.
	 * Heeds no signals, and works also while the GPU's files go. Without
	 * gpu->lock, after nvdebug_gpu_begin_undo().
	 */
	void (*run)(struct nvdebug_gpu *gpu, struct nvdebug_undo *undo);
};

struct nvdebug_control {
	size_t text_max;	/* bytes in a request */
	/* Does it change the GPU? Then it takes the rights of docs/proc.md. */
	bool changes;
	/* Can what a request changed be put back? Then it may be a lease. */
	bool leases;
	/* Does it answer? The answer is read from the same open file. */
	bool answers;
	/*
	 * Do what @len bytes of @text ask for; @text is also terminated.
	 * @answer is NULL unless the control answers; what does not fit into
	 * it fails the request with -EFBIG. @undo is NULL unless the request
	 * is a lease; on success *@undo says what to put back, and is the
	 * caller's. Called without gpu->lock and outside of
	 * nvdebug_gpu_begin().
	 */
	int (*act)(struct nvdebug_gpu *gpu, const char *text, size_t len,
		   struct seq_buf *answer, struct nvdebug_undo **undo);
};

#endif
