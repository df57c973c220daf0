/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#ifndef SHIM_LINUX_STRING_H
#define SHIM_LINUX_STRING_H

#include_next <linux/string.h>
#include <string.h>

#endif
