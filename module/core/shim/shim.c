// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/kernel.h>
#include <linux/slab.h>
#include <shim.h>
#include <stdint.h>
#include <stdlib.h>

struct shim shim;

void shim_sleep(u64 ns)
{
	shim.now_ns += ns;
	if (shim.slept)
		shim.slept(ns);
}

void *kmalloc(size_t size, gfp_t flags)
{
	void *mem;

	if (!(flags & __GFP_NOFAIL) && ++shim.asked == shim.refuse)
		return NULL;
	if (size > PTRDIFF_MAX)
		return NULL;
	mem = flags & __GFP_ZERO ? calloc(1, size) : malloc(size);
	shim.in_use += !!mem;
	return mem;
}

void kfree(const void *mem)
{
	shim.in_use -= !!mem;
	free((void *)mem);
}
