/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The info file: identity and features of a GPU.
 */
#ifndef NVDEBUG_INFO_H
#define NVDEBUG_INFO_H

#include <linux/types.h>

struct nvdebug_view;

extern const struct nvdebug_view nvdebug_info_view;

/* May this task's open of info access the GPU? Only root's may. */
bool nvdebug_info_may_access_gpu(void);

#endif
