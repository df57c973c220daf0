/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Leases: requests that are undone when the open file that they were written to
 * is released. That also happens when the process dies or procfs removes the
 * file.
 */
#ifndef NVDEBUG_CONTROL_LEASE_H
#define NVDEBUG_CONTROL_LEASE_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>

struct nvdebug_control;
struct nvdebug_gpu;
struct seq_buf;

#define NVDEBUG_LEASES_MAX	16

/* The leases of an open file of a control. */
struct nvdebug_leases {
	/* All three are under gpu->leases_lock. */
	struct list_head node;	/* in gpu->leases */
	u32 turn;	/* last turn (gpu->leases_turn) that came here */
	/* nvdebug_leases_end_all() visits the file, which may not be freed. */
	bool visited;

	/* Serialises requests, so that they have an order. */
	struct mutex lock;
	struct list_head undos;	/* last one first */
	unsigned int count;
};

/* Initialise the leases of a file that is opened. Fails with -EINTR. */
int __must_check nvdebug_leases_init(struct nvdebug_leases *leases,
				     struct nvdebug_gpu *gpu);

/*
 * Execute the request @text (@len bytes). If it begins with "lease",
 * nvdebug_leases_end() undoes it. @answer is NULL unless control->answers.
 * -ENOSPC if there are NVDEBUG_LEASES_MAX leases already, -EINTR on a fatal
 * signal, -EFBIG if the answer is too long.
 */
int __must_check nvdebug_request(struct nvdebug_gpu *gpu,
				 const struct nvdebug_control *control,
				 struct nvdebug_leases *leases,
				 const char *text, size_t len,
				 struct seq_buf *answer);

/* Undo all leases of the file when it is released. */
void nvdebug_leases_end(struct nvdebug_leases *leases, struct nvdebug_gpu *gpu);

/*
 * Undo the leases of all open files, while no lease can be taken. It is called
 * when the GPU is removed, and before a driver is bound or unbound: the changes
 * concern the present owner's work, and the next owner uses the same ids. The
 * files can then take other requests.
 */
void nvdebug_leases_end_all(struct nvdebug_gpu *gpu);

#endif
