/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The /proc/gpuX tree: the files of views and controls.
 */
#ifndef NVDEBUG_PROC_H
#define NVDEBUG_PROC_H

#include <linux/types.h>

struct nvdebug_device;

/*
 * Check that the name is free. -EBUSY, with a line in the log, if another
 * module owns /proc/gpu0.
 */
int nvdebug_proc_check(void);

/* Publishes GPUs as /proc/gpuX. */
extern const struct nvdebug_publisher nvdebug_proc_publisher;
#endif
