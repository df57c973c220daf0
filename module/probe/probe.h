/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Identifies a GPU and its features: fills in struct nvdebug_gpu. Every
 * function is called between nvdebug_gpu_begin() and _end().
 */
#ifndef NVDEBUG_PROBE_PROBE_H
#define NVDEBUG_PROBE_PROBE_H

struct nvdebug_gpu;

/*
 * Identify the chip. Fails, with a line in the log, if BOOT_0 cannot be read.
 */
int __must_check nvdebug_probe_chip(struct nvdebug_gpu *gpu);
/*
 * Determine all features. Fails with -ENOMEM.
 */
int __must_check nvdebug_probe_features(struct nvdebug_gpu *gpu);
/* Reset everything but the identity, with the reason @why. */
void nvdebug_probe_reset(struct nvdebug_gpu *gpu, const char *why);

#endif
