/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#ifndef SHIM_LINUX_BITFIELD_H
#define SHIM_LINUX_BITFIELD_H

#include <linux/bits.h>

#define FIELD_GET(mask, reg) \
	((__typeof__(mask))(((reg) & (mask)) >> __builtin_ctzll(mask)))
#define FIELD_PREP(mask, val) \
	(((__typeof__(mask))(val) << __builtin_ctzll(mask)) & (mask))
#define FIELD_MAX(mask) \
	((__typeof__(mask))((mask) >> __builtin_ctzll(mask)))

#endif
