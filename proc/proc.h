/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The /proc/gpuX tree. A file that is read has a view: how to take a
 * snapshot when the file is opened, and how to print it, record by record,
 * from memory alone.
 */
#ifndef NVDEBUG_PROC_H
#define NVDEBUG_PROC_H

#include <linux/types.h>

struct nvdebug_gpu;
struct nvdebug_undo;
struct seq_buf;
struct seq_file;

/* What every snapshot begins with. */
struct nvdebug_snapshot {
	size_t records;	/* how many to show; set by the view */
	bool hide;	/* print no addresses; set by proc.c */
};

struct nvdebug_view {
	/* Does taking it touch the GPU? */
	bool live;
	/* @id: the number in the file's name. An ERR_PTR() on failure. */
	struct nvdebug_snapshot *(*take)(struct nvdebug_gpu *gpu, u32 id);
	void (*show)(struct seq_file *m, struct nvdebug_gpu *gpu,
		     const struct nvdebug_snapshot *snapshot, size_t record);
	void (*free)(struct nvdebug_snapshot *snapshot);
};

/* A file that is written: one write is one request. */
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

/* -EBUSY, with a line in the log, if another module shows GPUs in /proc. */
int nvdebug_proc_check(void);

/*
 * Make /proc/gpu@index. -EBUSY, with a line in the log, if somebody else has
 * one of that name.
 */
int nvdebug_proc_create(struct nvdebug_gpu *gpu, unsigned int index);
/*
 * The rest of the files, of a GPU that was not identified before. Called once,
 * from the open of its info, which is what there was.
 */
void nvdebug_proc_complete(struct nvdebug_gpu *gpu);
/* Waits for calls into the files to finish and closes what is open. */
void nvdebug_proc_remove(struct nvdebug_gpu *gpu);

#endif
