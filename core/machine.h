/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * All that the core needs of what it runs on. In the kernel access/ has it, by
 * way of BAR0 and the memory behind it; in user space whoever links the core.
 */
#ifndef NVDEBUG_CORE_MACHINE_H
#define NVDEBUG_CORE_MACHINE_H

#include <linux/compiler_attributes.h>
#include <linux/list.h>
#include <linux/types.h>

struct nvdebug_gpu;

/*
 * Registers and memory are accessed between these two only. begin() fails with
 * -ENODEV if the GPU sleeps or has gone, -EBUSY if it is somebody else's now,
 * -EINTR on a fatal signal. Ends in the task that began it, and is not nested.
 */
int __must_check nvdebug_gpu_begin(struct nvdebug_gpu *gpu);
/* The same to put something back: heeds no signal, nor that the files go. */
int __must_check nvdebug_gpu_begin_undo(struct nvdebug_gpu *gpu);
void nvdebug_gpu_end(struct nvdebug_gpu *gpu);

/* Is it about to go? What may take long should end then. */
bool nvdebug_gpu_is_leaving(const struct nvdebug_gpu *gpu);

/* Registers. */

/*
 * -EIO if the register bus answers with an error or there is no such register,
 * -ENODEV if the whole GPU reads as all ones.
 */
int __must_check nvdebug_reg_read(struct nvdebug_gpu *gpu, u32 offset,
				  u32 *value);
/*
 * The same for a register that may hold any address: what looks like an error
 * code is data if none but @bits are set. The caller must read another
 * register of the same block, which vouches for this one.
 */
int __must_check nvdebug_reg_read_address(struct nvdebug_gpu *gpu, u32 offset,
					  u32 bits, u32 *value);
void nvdebug_reg_write(struct nvdebug_gpu *gpu, u32 offset, u32 value);

/* How far registers reach. */
u64 nvdebug_reg_bytes(const struct nvdebug_gpu *gpu);

/* Is it still there? 0, -ENODEV or -EIO; one register read. */
int __must_check nvdebug_gpu_check_alive(struct nvdebug_gpu *gpu);

/* Memory, by the addresses that the GPU uses. */

/* What every session begins with. */
struct nvdebug_mem {
	struct nvdebug_gpu *gpu;
	u32 mmu_ctrl;	/* see mmu.c */
	bool mmu_ctrl_known;
};

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

/* How far a request is: for who implements this only. */
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
 * Do all of @fetches, in the order that costs least. -EINTR, -ENODEV and
 * -ENOMEM end everything; other errors are the fetch's own. Not under
 * gpu->lock, unless nothing of it is in video memory.
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

/*
 * What follows puts something back: no signal, no removal of the GPU's files
 * and no lockdown that came meanwhile ends it early.
 */
void nvdebug_mem_insist(struct nvdebug_mem *mem);

/* Memory that the GPU reads a runlist from which replaces a driver's. */
struct nvdebug_list_memory {
	u64 addr;	/* as the GPU is told */
	u8 aperture;
	size_t bytes;
};

/*
 * Memory with @words in it, at an address that has only bits of @reach. An
 * ERR_PTR() on failure: -EOPNOTSUPP where that cannot be, as the GPU cannot
 * reach it or is user space's; -EBUSY while a driver is bound or unbound. The
 * GPU may read it until the last of all is free.
 */
struct nvdebug_list_memory *
nvdebug_list_memory_alloc(struct nvdebug_gpu *gpu, const u32 *words, u32 count,
			  u64 reach);
/* Nothing reads it any more. It is lost if its address means another place. */
void nvdebug_list_memory_free(struct nvdebug_gpu *gpu,
			      struct nvdebug_list_memory *memory);
/* The GPU may read it for ever: it is left to it. */
void nvdebug_list_memory_abandon(struct nvdebug_list_memory *memory);

/* The log. */

/* One line; if it is one too many, the log says later how many there were. */
__printf(2, 3)
void nvdebug_info_ratelimit(struct nvdebug_gpu *gpu, const char *fmt, ...);
__printf(2, 3)
void nvdebug_err_ratelimit(struct nvdebug_gpu *gpu, const char *fmt, ...);
/* While the GPU is probed, which does not happen often. */
__printf(2, 3)
void nvdebug_warn(struct nvdebug_gpu *gpu, const char *fmt, ...);

#endif
