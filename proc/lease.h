/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Leases: requests that are undone when the open file through which they were
 * written is closed, by whomever: its writer, the kernel when that dies, or
 * procfs when the file goes.
 */
#ifndef NVDEBUG_LEASE_H
#define NVDEBUG_LEASE_H

#include <linux/list.h>
#include <linux/mutex.h>

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
 * Do what @text asks @control for, until nvdebug_leases_end(). -ENOSPC if there
 * are NVDEBUG_LEASES_MAX already, -EINTR on a fatal signal.
 */
int __must_check nvdebug_lease_take(struct nvdebug_leases *leases,
				    struct nvdebug_gpu *gpu,
				    const struct nvdebug_control *control,
				    const char *text, size_t len,
				    struct seq_buf *answer);

/* The file is closed: nobody else uses @leases any more. */
void nvdebug_leases_end(struct nvdebug_leases *leases, struct nvdebug_gpu *gpu);

#endif
