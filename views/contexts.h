/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Which channels work in which address space, and which of those share a TSG.
 */
#ifndef NVDEBUG_CONTEXTS_H
#define NVDEBUG_CONTEXTS_H

extern const struct nvdebug_view nvdebug_contexts_view;

#endif
