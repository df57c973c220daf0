/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/** @file What the shared library shows to its users. */
#ifndef NVDEBUG_EXPORT_H
#define NVDEBUG_EXPORT_H

#define NVDEBUG_API __attribute__((visibility("default")))

#endif
