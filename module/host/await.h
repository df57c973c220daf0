/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Poll the hardware for completion.
 */
#ifndef NVDEBUG_AWAIT_H
#define NVDEBUG_AWAIT_H

struct nvdebug_gpu;

/* Returns 1 when the hardware is done, 0 before, or an error. */
typedef int (*nvdebug_done_fn)(struct nvdebug_gpu *gpu, const void *what);

/*
 * Poll @done until it returns non-zero. -ETIMEDOUT after a second, else as
 * nvdebug_gpu_check_stop(). Sleeps.
 */
int __must_check nvdebug_await(struct nvdebug_gpu *gpu, nvdebug_done_fn done,
			       const void *what);

/* Poll in the same way while state is restored: this does not stop early. */
int __must_check nvdebug_await_undo(struct nvdebug_gpu *gpu,
				    nvdebug_done_fn done, const void *what);

#endif
