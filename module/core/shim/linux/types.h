/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The shim: just enough of <linux/...> for the core to compile in user space,
 * as C or as part of a C++ program. Where the system has a header of the same
 * name, another header may include that name to get the system's, so the shim's
 * header includes the system's as well.
 */
#ifndef SHIM_LINUX_TYPES_H
#define SHIM_LINUX_TYPES_H

#include_next <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;
typedef unsigned int gfp_t;

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

#ifndef __must_check
#define __must_check	__attribute__((warn_unused_result))
#endif

#endif
