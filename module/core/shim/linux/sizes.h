/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#ifndef SHIM_LINUX_SIZES_H
#define SHIM_LINUX_SIZES_H

#define SZ_4K	0x1000
#define SZ_64K	0x10000
#define SZ_1M	0x100000
#define SZ_16M	0x1000000

#endif
