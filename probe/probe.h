/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Which chip a GPU is, and what of it can be used: fills in struct nvdebug_gpu.
 * All between nvdebug_gpu_begin() and _end().
 */
#ifndef NVDEBUG_PROBE_PROBE_H
#define NVDEBUG_PROBE_PROBE_H

struct nvdebug_gpu;

/*
 * Identify the chip. @why_not: why no more than its identity can be shown, or
 * NULL. Fails with the error of BOOT_0, after a line in the log.
 */
int __must_check nvdebug_probe_chip(struct nvdebug_gpu *gpu,
				    const char *why_not);
/*
 * What of the chip can be used: the only place that decides on features. Fails
 * with -ENOMEM.
 */
int __must_check nvdebug_probe_features(struct nvdebug_gpu *gpu);
/* As if it had never been probed, for the reason @why. */
void nvdebug_probe_forget(struct nvdebug_gpu *gpu, const char *why);

#endif
