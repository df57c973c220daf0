/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The walk of one address, for who asks.
 */
#ifndef NVDEBUG_TRANSLATE_H
#define NVDEBUG_TRANSLATE_H

extern const struct nvdebug_control nvdebug_translate_control;

#endif
