/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The one way to read memory by the addresses the GPU uses.
 */
#ifndef NVDEBUG_MEMORY_H
#define NVDEBUG_MEMORY_H

#include <linux/list.h>
#include <linux/types.h>

struct nvdebug_gpu;
struct nvdebug_mem;

/* Where what an aperture means is. */
enum nvdebug_place {
	NVDEBUG_PLACE_NONE,
	NVDEBUG_PLACE_VIDEO,
	NVDEBUG_PLACE_SYSTEM,
};

/* What a chip takes addresses for. */
struct nvdebug_memory_ops {
	u8 place[4];	/* enum nvdebug_place, by NV_APERTURE_* */
	u8 own;		/* the aperture to tell it of system memory of ours */
	/*
	 * Of addresses in system memory that have a bit which is none of the
	 * address: the bit, or 0. Is what is left an address for the IOMMU, if
	 * the GPU is behind one: with the bit, without?
	 */
	u64 mark;
	bool marked_is_translated;
	bool unmarked_is_translated;
};

extern const struct nvdebug_memory_ops nvdebug_memory_gk104;
extern const struct nvdebug_memory_ops nvdebug_memory_gp10b;
extern const struct nvdebug_memory_ops nvdebug_memory_gv11b;
extern const struct nvdebug_memory_ops nvdebug_memory_ga10b;

/* Is @aperture one that the chip has, and where? */
enum nvdebug_place nvdebug_mem_place(const struct nvdebug_gpu *gpu, u8 aperture);

/* The register that says what PRAMIN shows. */
struct nvdebug_window {
	u32 reg;
	u32 base;	/* mask of the address field */
	u32 target;	/* mask of the aperture field, if it has one */
};

extern const struct nvdebug_window nvdebug_window_nv50;
extern const struct nvdebug_window nvdebug_window_gh100;
extern const struct nvdebug_window nvdebug_window_gb100;

struct nvdebug_mem_request {
	u64 addr;	/* a multiple of 4 */
	u8 aperture;
	/*
	 * Only the words of even number are wanted: the others, which are a
	 * bus access each in video memory, may be left 0.
	 */
	bool even_only;
	/* Words of a page table: the session remembers them. */
	bool table;
	size_t words;
	u32 *buf;
	/*
	 * Out: a word looks like an error of the register bus, and came over
	 * it. Memory may hold such words, so that is for the caller to judge.
	 */
	bool suspect;
};

/*
 * A session: the memory accesses of one open or write of a file. It remembers
 * what it read of page tables, and where it found what, so that nothing is
 * read or searched for twice. Between nvdebug_gpu_begin() and _end() only, by
 * one thread, without gpu->lock.
 */
struct nvdebug_mem *nvdebug_mem_begin(struct nvdebug_gpu *gpu);
/*
 * To put back what an earlier open or write changed: nvdebug_mem_insist() from
 * the start, and it never fails.
 */
struct nvdebug_mem *nvdebug_mem_begin_undo(struct nvdebug_gpu *gpu);
void nvdebug_mem_end(struct nvdebug_mem *mem);

/*
 * Fill in @req->buf. Returns
 *   -EOPNOTSUPP  needs the PRAMIN window, which is not allowed
 *   -EBUSY       somebody else kept moving that window
 *   -EFAULT      no such memory
 *   -EIO         read, but as nothing but errors
 *   -ENODEV      the GPU has gone
 *   -EINTR       a fatal signal
 *   -ENOMEM      no memory of our own
 * May sleep.
 */
int __must_check nvdebug_mem_read(struct nvdebug_mem *mem,
				  struct nvdebug_mem_request *req);

/* How far a request is: for the ways to memory only. */
struct nvdebug_mem_progress {
	struct list_head queue;
	size_t done;	/* words */
	size_t piece;	/* words after them that are being read */
	size_t got;	/* of the piece */
	u8 tries;
	bool over_bus;	/* some of it */
};

/* Reads that depend on each other: what to read next is decided by the last. */
struct nvdebug_fetch {
	struct list_head node;
	struct nvdebug_mem_request want;
	/*
	 * @want was read, or @error says why not. Returns true with @want set
	 * anew to go on. May sleep and read registers, but not read memory
	 * itself or take gpu->lock.
	 */
	bool (*step)(struct nvdebug_fetch *fetch, int error);
	struct nvdebug_mem_progress progress;
};

/*
 * Do all of @fetches, in the order that moves the window least: once to each
 * MiB, as long as what is wanted next is not known only from elsewhere. -EINTR,
 * -ENODEV and -ENOMEM end everything; other errors are the fetch's own. Not
 * under gpu->lock, unless nothing of it is in video memory.
 */
int __must_check nvdebug_mem_fetch(struct nvdebug_mem *mem,
				   struct list_head *fetches);

/*
 * Write the one word at @addr, if it is @expected, and read it back. Fails as
 * reading does, and with -EIO if it does not read as it was written. -EBUSY: it
 * is another word, and was left alone; or somebody else moved the window, and
 * it is not known whether it was written.
 */
int __must_check nvdebug_mem_write(struct nvdebug_mem *mem, u8 aperture,
				   u64 addr, u32 expected, u32 value);
/* May @word be overwritten by who takes it for @expected? */
int __must_check nvdebug_word_check(u32 word, u32 expected);

/*
 * What follows puts something back: no signal, no removal of the GPU's files
 * and no lockdown that came meanwhile ends it early.
 */
void nvdebug_mem_insist(struct nvdebug_mem *mem);

/* Why the PRAMIN window may not be moved, or NULL if it may. */
const char *nvdebug_window_forbidden(const struct nvdebug_gpu *gpu);

#endif
