/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Unit counts of the chip's design, disabled units, and size of video memory.
 */
#ifndef NVDEBUG_VIEWS_GPC_TOPOLOGY_H
#define NVDEBUG_VIEWS_GPC_TOPOLOGY_H

struct nvdebug_gpu;

/*
 * Read the geometry once, when the GPU is probed: it is constant while the GPU
 * has power.
 */
void nvdebug_geometry_survey(struct nvdebug_gpu *gpu);

#endif
