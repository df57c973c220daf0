/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What the chip was designed with, what of it is off, and how much memory it
 * has.
 */
#ifndef NVDEBUG_VIEWS_GPC_TOPOLOGY_H
#define NVDEBUG_VIEWS_GPC_TOPOLOGY_H

struct nvdebug_gpu;

/* Read once, when the GPU is probed: it does not change while it has power. */
void nvdebug_geometry_survey(struct nvdebug_gpu *gpu);

#endif
