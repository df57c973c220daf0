/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The info file: identity and features of a GPU.
 */
#ifndef NVDEBUG_INFO_H
#define NVDEBUG_INFO_H

struct nvdebug_view;

extern const struct nvdebug_view nvdebug_info_view;

#endif
