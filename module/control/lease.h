/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Leases: requests that are undone on release of the open file that they were
 * written to, also when the process dies or procfs removes the file.
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
	/* All three under gpu->leases_lock. */
	struct list_head node;	/* in gpu->leases */
	u32 turn;	/* of gpu->leases_turn: the last that came here */
	bool visited;	/* by nvdebug_leases_end_all(): not to be freed */

	struct mutex lock;	/* serialises requests, for their order */
	struct list_head undos;	/* last one first */
	unsigned int count;
};

/* Fails with -EINTR. */
int __must_check nvdebug_leases_init(struct nvdebug_leases *leases,
				     struct nvdebug_gpu *gpu);

/*
 * Execute the request @text (@len bytes). If it begins with "lease", it is
 * undone by nvdebug_leases_end(). @answer is NULL unless control->answers.
 * -ENOSPC if there are NVDEBUG_LEASES_MAX leases already, -EINTR on a fatal
 * signal, -EFBIG if the answer is too long.
 */
int __must_check nvdebug_request(struct nvdebug_gpu *gpu,
				 const struct nvdebug_control *control,
				 struct nvdebug_leases *leases,
				 const char *text, size_t len,
				 struct seq_buf *answer);

/* Undo all leases, on release of the file. */
void nvdebug_leases_end(struct nvdebug_leases *leases, struct nvdebug_gpu *gpu);

/*
 * Undo the leases of all open files; the files can then be used for others. One
 * call at a time, while no lease can be taken. Before a driver is bound or
 * unbound: the changes are the present owner's, and the next one uses the same
 * ids.
 */
void nvdebug_leases_end_all(struct nvdebug_gpu *gpu);

#endif
