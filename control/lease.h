/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Leases: requests that are undone when the open file through which they were
 * written is closed, by whomever: its writer, the kernel when that dies, or
 * procfs when the file goes.
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

/* Those of one open file. */
struct nvdebug_leases {
	struct mutex lock;	/* one at a time, so that their order is known */
	struct list_head undos;	/* the last one first */
	unsigned int count;
};

void nvdebug_leases_init(struct nvdebug_leases *leases);

/*
 * One request: do what @len bytes of @text ask @control for, and if they begin
 * with the word "lease", until nvdebug_leases_end(). @answer is NULL unless the
 * control answers. -ENOSPC if there are NVDEBUG_LEASES_MAX leases, -EINTR on a
 * fatal signal, -EFBIG if the answer is too long.
 */
int __must_check nvdebug_request(struct nvdebug_gpu *gpu,
				 const struct nvdebug_control *control,
				 struct nvdebug_leases *leases,
				 const char *text, size_t len,
				 struct seq_buf *answer);

/* The file is closed: nobody else uses @leases any more. */
void nvdebug_leases_end(struct nvdebug_leases *leases, struct nvdebug_gpu *gpu);

#endif
