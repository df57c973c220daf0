/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The one way to read memory by the addresses the GPU uses.
 */
#ifndef NVDEBUG_MEMORY_H
#define NVDEBUG_MEMORY_H

#include <linux/types.h>

struct nvdebug_gpu;

/* The register that says what PRAMIN shows, where the chip has one. */
struct nvdebug_window {
	u32 reg;
	u32 base;	/* mask of the address field */
	u32 target;	/* mask of the aperture field */
};

extern const struct nvdebug_window nvdebug_window_nv50;

struct nvdebug_mem_request {
	u64 addr;	/* a multiple of 4 */
	u8 aperture;
	/*
	 * Only the words of even number are wanted: the others, which are a
	 * bus access each in video memory, may be left 0.
	 */
	bool even_only;
	size_t words;
	u32 *buf;
	/*
	 * Out: a word looks like an error of the register bus, and came over
	 * it. Memory may hold such words, so that is for the caller to judge.
	 */
	bool suspect;
};

/*
 * Fill in @req->buf. Returns
 *   -EOPNOTSUPP  needs the PRAMIN window moved, which is not allowed
 *   -EBUSY       somebody else kept moving that window
 *   -EFAULT      no such memory
 *   -EIO         read, but as nothing but errors
 *   -ENODEV      the GPU has gone
 *   -EINTR       a fatal signal
 * May sleep. The caller does not hold gpu->lock.
 */
int __must_check nvdebug_mem_read(struct nvdebug_gpu *gpu,
				  struct nvdebug_mem_request *req);

/* Why the PRAMIN window may not be moved, or NULL if it may. */
const char *nvdebug_window_forbidden(void);

#endif
