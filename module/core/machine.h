/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Platform interface of the core: registers, memory, log. Implemented by
 * access/ in the kernel, and by the program that links the core in user space.
 */
#ifndef NVDEBUG_CORE_MACHINE_H
#define NVDEBUG_CORE_MACHINE_H

#include <linux/compiler_attributes.h>
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/types.h>

struct nvdebug_gpu;

/*
 * Bracket every access to registers and memory. nvdebug_gpu_begin() fails with
 * -ENODEV if the GPU is suspended or gone, -EBUSY if it is assigned to user
 * space, closed by a mode or about to get or lose its driver, -EINTR on a fatal
 * signal. The same task calls begin and end, and calls are not nested.
 */
int __must_check nvdebug_gpu_begin(struct nvdebug_gpu *gpu);
/*
 * Begin an access that restores state. It ignores signals, the removal of the
 * GPU's files and a driver change that waits for its users, but fails while
 * probe() or remove() of a driver runs.
 */
int __must_check nvdebug_gpu_begin_undo(struct nvdebug_gpu *gpu);
void nvdebug_gpu_end(struct nvdebug_gpu *gpu);

/*
 * Return 0, or the reason to stop; called at each step of anything that takes
 * long. -EINTR: a fatal signal; -ENODEV: the GPU's files are being removed;
 * -ECANCELED: a driver is about to be bound or unbound (which users see as
 * -EBUSY).
 */
int __must_check nvdebug_gpu_check_stop(const struct nvdebug_gpu *gpu);

/* Registers. */

/*
 * Read a register. Returns -EIO on an error code of the register bus or for an
 * offset beyond BAR0, -ENODEV if the whole GPU reads as all ones.
 */
int __must_check nvdebug_reg_read(struct nvdebug_gpu *gpu, u32 offset,
				  u32 *value);
/*
 * Read a register that may hold any address: a value that looks like an error
 * code is data if only bits of @bits are set. The caller must also read a
 * register of the same block that cannot look like an error, to detect an
 * error.
 */
int __must_check nvdebug_reg_read_address(struct nvdebug_gpu *gpu, u32 offset,
					  u32 bits, u32 *value);
void nvdebug_reg_write(struct nvdebug_gpu *gpu, u32 offset, u32 value);
/*
 * Announce that the register at @offset will be read in the same access. Where
 * a call costs more than a register, all announced registers are read in one
 * call.
 */
void nvdebug_reg_expect(struct nvdebug_gpu *gpu, u32 offset);

/* Return the size of the register space in bytes. */
u64 nvdebug_reg_bytes(const struct nvdebug_gpu *gpu);

/*
 * Check that the GPU answers, with one read of a register. Returns 0, -ENODEV
 * or -EIO.
 */
int __must_check nvdebug_gpu_check_alive(struct nvdebug_gpu *gpu);

/* Memory, by GPU addresses. */

/* The first member of every session. */
struct nvdebug_mem {
	struct nvdebug_gpu *gpu;
	bool restoring;	/* see nvdebug_mem_set_restoring() */
	u32 mmu_ctrl;	/* see mmu.c */
	bool mmu_ctrl_known;
};

/* Progress of a request: private to the implementation. */
struct nvdebug_mem_progress {
	size_t done;	/* words that are read */
	size_t piece;	/* words being read, after the done ones */
	size_t got;	/* words of the piece that were read */
	u8 tries;
	bool over_bus;	/* some words were read through a BAR */
};

struct nvdebug_mem_request {
	u64 addr;	/* a multiple of 4 */
	u8 aperture;
	/*
	 * Return whether word @i of @buf is not needed, given the words before
	 * it. Such a word may be left 0, because each word is a bus access in
	 * video memory. NULL: all words are needed.
	 */
	bool (*skip)(const u32 *buf, size_t i);
	/* The words are of a page table, so the session caches them. */
	bool table;
	size_t words;
	u32 *buf;
	/*
	 * Set if a word that was read through a BAR looks like an error code of
	 * the register bus. Memory may hold such words: the caller decides.
	 */
	bool maybe_pri_error;
	int error;	/* set to 0 or an error of nvdebug_mem_read() */
	struct list_head node;
	struct nvdebug_mem_progress progress;
};

/*
 * Begin a session: the memory accesses of one open or write of a file. It
 * caches page tables and BAR mappings, so that nothing is read or searched for
 * twice. It lies between nvdebug_gpu_begin() and _end(), and belongs to one
 * thread, which does not hold gpu->lock.
 */
struct nvdebug_mem *nvdebug_mem_begin(struct nvdebug_gpu *gpu);
/*
 * Begin a session that restores the changes of an earlier open or write, as
 * nvdebug_mem_set_restoring() describes. Never fails.
 */
struct nvdebug_mem *nvdebug_mem_begin_undo(struct nvdebug_gpu *gpu);
void nvdebug_mem_end(struct nvdebug_mem *mem);

/* Return whether the error ends the open or write, not only one read. */
static inline bool nvdebug_mem_error_is_fatal(int error)
{
	return error == -EINTR || error == -ENODEV || error == -ENOMEM ||
	       error == -ECANCELED;
}

/*
 * Fill in the buffers of all @requests (linked by node), in the order that
 * needs the fewest accesses, and empty the list. Returns only fatal errors,
 * after which the list must not be used; other errors are in each request. May
 * sleep. Not called under gpu->lock, unless everything is in system memory.
 */
int __must_check nvdebug_mem_read_all(struct nvdebug_mem *mem,
				      struct list_head *requests);

static inline bool nvdebug_mem_skips(const struct nvdebug_mem_request *req,
				     size_t i)
{
	return req->skip && req->skip(req->buf, i);
}

/*
 * Read for one request, like nvdebug_mem_read_all(). Returns
 *   -EOPNOTSUPP  the PRAMIN window would have to be moved, which is not allowed
 *   -EBUSY       others moved the window during every attempt
 *   -EFAULT      no such memory
 *   -EIO         every word reads as an error code
 *   -ENODEV      the GPU is gone
 *   -EINTR, -ECANCELED  see nvdebug_gpu_check_stop()
 *   -ENOMEM      out of memory
 */
static inline int __must_check nvdebug_mem_read(struct nvdebug_mem *mem,
						struct nvdebug_mem_request *req)
{
	LIST_HEAD(requests);
	int ret;

	list_add(&req->node, &requests);
	ret = nvdebug_mem_read_all(mem, &requests);
	return ret ? ret : req->error;
}

/* A word that must have this value when another word is written. */
struct nvdebug_mem_guard {
	u64 addr;
	u32 value;
};

/* A compare-and-write of one word. */
struct nvdebug_mem_change {
	u64 addr;	/* a multiple of 4 */
	u8 aperture;
	u32 expected;
	u32 value;
	/*
	 * Words of the same 4 KiB that identify the memory: the word alone may
	 * be the same after the memory was reused.
	 */
	const struct nvdebug_mem_guard *guard;
	u32 guards;
};

/*
 * Write the word if it and all guards are as expected, and read it back.
 * Interrupts are off from the first compare to the write. gpu->lock is taken
 * for video memory; for system memory the caller holds it, see
 * nvdebug_mem_needs_lock(). Errors as for reading; -EIO also if the word reads
 * back differently. -EBUSY: the word has another value and was not written; or
 * the window was moved during the write, and it is unknown whether the word was
 * written.
 */
int __must_check nvdebug_mem_write(struct nvdebug_mem *mem,
				   const struct nvdebug_mem_change *change);

/*
 * Let the session restore state from here on: it then ignores signals, the
 * removal of the GPU's files and a lockdown that was set since.
 */
void nvdebug_mem_set_restoring(struct nvdebug_mem *mem);

/* Memory of an override list, read by the GPU. */
struct nvdebug_list_memory {
	u64 addr;	/* as the GPU uses it */
	u8 aperture;
	size_t bytes;
};

/*
 * Allocate memory with the contents @words, at an address that has only bits of
 * @reach. ERR_PTR() on failure: -EOPNOTSUPP if the GPU cannot reach the memory
 * or is assigned to user space; -EBUSY while a driver is being bound or
 * unbound. Bus mastering stays enabled until the last list is freed.
 */
struct nvdebug_list_memory *
nvdebug_list_memory_alloc(struct nvdebug_gpu *gpu, const u32 *words, u32 count,
			  u64 reach);
/*
 * Free memory that the GPU does not use any more. The memory is leaked if its
 * address maps elsewhere by now.
 */
void nvdebug_list_memory_free(struct nvdebug_gpu *gpu,
			      struct nvdebug_list_memory *memory);
/* Leak memory, because the GPU may still read it. */
void nvdebug_list_memory_abandon(struct nvdebug_list_memory *memory);

/* The log. */

/* Log one line, ratelimited. The log counts suppressed lines. */
__printf(2, 3)
void nvdebug_info_ratelimit(struct nvdebug_gpu *gpu, const char *fmt, ...);
__printf(2, 3)
void nvdebug_err_ratelimit(struct nvdebug_gpu *gpu, const char *fmt, ...);
__printf(2, 3)
void nvdebug_warn_ratelimit(struct nvdebug_gpu *gpu, const char *fmt, ...);

#endif
