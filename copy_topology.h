/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Copy engines: which logical engines the physical ones work for.
 */
#ifndef NVDEBUG_COPY_TOPOLOGY_H
#define NVDEBUG_COPY_TOPOLOGY_H

struct nvdebug_gpu;

/* When the GPU is probed: find out which PCEs there are. */
void nvdebug_copy_topology_survey(struct nvdebug_gpu *gpu);

#endif
