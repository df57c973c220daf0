/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Waiting for the hardware to say that it has done what was asked.
 */
#ifndef NVDEBUG_AWAIT_H
#define NVDEBUG_AWAIT_H

struct nvdebug_gpu;

/* Is it done? 1: yes, 0: not yet, or an error. */
typedef int (*nvdebug_done_fn)(struct nvdebug_gpu *gpu, const void *what);

/*
 * Ask @done now and then until it says yes or fails. -ETIMEDOUT if that takes
 * longer than a second, -EINTR on a fatal signal, -ENODEV if the GPU is about
 * to go. Sleeps.
 */
int __must_check nvdebug_await(struct nvdebug_gpu *gpu, nvdebug_done_fn done,
			       const void *what);

/* The same for what is put back, which must not be left half done. */
int __must_check nvdebug_await_undo(struct nvdebug_gpu *gpu,
				    nvdebug_done_fn done, const void *what);

#endif
