/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Read before any header of a kernel that gcc built (clang-arguments). In
 * assembly clang leaves out the segment of an operand, so that what each CPU
 * has of its own would be looked for near address 0.
 */
#include <linux/kconfig.h>

#undef CONFIG_CC_HAS_NAMED_AS
#undef CONFIG_USE_X86_SEG_SUPPORT
