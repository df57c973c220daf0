/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Memory of the C library. Allocations are counted, and refused as shim.h
 * demands.
 */
#ifndef SHIM_LINUX_SLAB_H
#define SHIM_LINUX_SLAB_H

#include <linux/overflow.h>
#include <linux/types.h>

#define GFP_KERNEL		0u
#define GFP_KERNEL_ACCOUNT	0u
#define __GFP_ZERO		1u
#define __GFP_NOFAIL		2u

#ifdef __cplusplus
extern "C" {
#endif

/* Defined in shim/memory.c. An allocation of SIZE_MAX bytes always fails. */
void *kmalloc(size_t size, gfp_t flags);
void kfree(const void *mem);

#ifdef __cplusplus
}
#endif

static inline void *kmalloc_array(size_t n, size_t size, gfp_t flags)
{
	return kmalloc(size_mul(n, size), flags);
}

static inline void *kcalloc(size_t n, size_t size, gfp_t flags)
{
	return kmalloc_array(n, size, flags | __GFP_ZERO);
}

static inline void *kzalloc(size_t size, gfp_t flags)
{
	return kmalloc(size, flags | __GFP_ZERO);
}

#define kvmalloc_array	kmalloc_array
#define kvcalloc	kcalloc
#define kvzalloc	kzalloc
#define kvfree		kfree

#endif
