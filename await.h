/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Waiting for the hardware to say that it has done what was asked.
 */
#ifndef NVDEBUG_AWAIT_H
#define NVDEBUG_AWAIT_H

struct nvdebug_gpu;

/*
 * Call @done now and then until it returns 1 (yes) or an error. -ETIMEDOUT if
 * that takes longer than a second, -EINTR on a fatal signal, -ENODEV if the
 * GPU is about to go. Sleeps.
 */
int __must_check nvdebug_await(struct nvdebug_gpu *gpu,
			       int (*done)(struct nvdebug_gpu *gpu,
					   const void *what),
			       const void *what);

#endif
