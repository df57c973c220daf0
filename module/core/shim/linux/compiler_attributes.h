/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#ifndef SHIM_LINUX_COMPILER_ATTRIBUTES_H
#define SHIM_LINUX_COMPILER_ATTRIBUTES_H

#define __printf(a, b)	__attribute__((format(printf, a, b)))

#endif
