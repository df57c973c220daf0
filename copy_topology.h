/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Shows which logical copy engines the physical ones are assigned to. */
#ifndef NVDEBUG_COPY_TOPOLOGY_H
#define NVDEBUG_COPY_TOPOLOGY_H

struct nvdebug_gpu;

/* Read at probe which PCEs exist. */
void nvdebug_copy_topology_survey(struct nvdebug_gpu *gpu);

#endif
