/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * PRAMIN: 1 MiB of BAR0, a window into video memory at the position in the
 * window register.
 *
 * Drivers assume exclusive use of that register. NVIDIA's driver caches the
 * position, does not write the register if the cached position is the wanted
 * one, and writes page tables and instance blocks through the window. If the
 * module had moved it, such a write would go elsewhere in video memory, and
 * reading the register would not reveal that. So the window is moved only while
 * no driver is bound.
 *
 * It is moved for one burst at a time: under gpu->lock and with interrupts off,
 * save the register, move the window, read a few words, read the register back,
 * and restore it if it is unchanged.
 */
#ifndef NVDEBUG_PRAMIN_H
#define NVDEBUG_PRAMIN_H

#include <linux/list.h>
#include <linux/types.h>

#include "core/machine.h"

struct nvdebug_gpu;

/* The window, as known to a session. */
struct nvdebug_pramin {
	struct nvdebug_gpu *gpu;
	const struct nvdebug_window *window;
	u32 standing;	/* value of the register when last read */
	int error;	/* of that read; -EAGAIN: there was none */
	bool restoring;	/* see nvdebug_mem_set_restoring() */
};

/*
 * Take gpu->lock, which excludes other sessions' bursts. Fails as a burst does
 * when the session has to stop.
 */
int __must_check nvdebug_pramin_lock(const struct nvdebug_pramin *p);
/* With the lock held: is the window still at p->standing? */
bool nvdebug_pramin_is_unmoved(const struct nvdebug_pramin *p);
/* With the lock held: a word of the window, which must show @addr. */
u32 nvdebug_pramin_word(const struct nvdebug_pramin *p, u64 addr);

/* Read the window register into p->standing; result in p->error. */
void nvdebug_pramin_read_register(struct nvdebug_pramin *p);

/* How many bytes from @addr on a window at @position covers. */
u64 nvdebug_pramin_covers(const struct nvdebug_pramin *p, u32 position,
			  u64 addr);
/*
 * May the window be moved? Not with a driver bound, with pram_window=never, or
 * under lockdown, which does not apply to restoring state (p->restoring).
 */
bool nvdebug_pramin_may_move(const struct nvdebug_pramin *p);
/*
 * May a driver move it at any time? Then nothing is written through it, and what
 * is read is read twice.
 */
bool nvdebug_pramin_is_shared(const struct nvdebug_pramin *p);
/* Can the window be moved to @addr? */
bool nvdebug_pramin_reaches(const struct nvdebug_pramin *p, u64 addr);
/*
 * The position for reading @bytes at @addr: aligned to a MiB if they are within
 * one, else starting at @addr.
 */
u32 nvdebug_pramin_position(const struct nvdebug_pramin *p, u64 addr, u64 bytes);

/*
 * Read the pieces of all @requests with the window at @position: p->standing, or
 * one that it may be moved to. Sets progress.got.
 * -EAGAIN: the window was moved by others; -EINTR, -ENODEV, -EIO. Takes
 * gpu->lock for each burst.
 */
int __must_check nvdebug_pramin_read(struct nvdebug_pramin *p, u32 position,
				     struct list_head *requests);
/*
 * Write one word if it and its guards are as expected. -EAGAIN: the window was
 * moved by others before the write; -EBUSY: moved during the write, or another
 * value; -EIO: it reads back differently.
 */
int __must_check nvdebug_pramin_write(struct nvdebug_pramin *p, u32 position,
				      const struct nvdebug_mem_change *change);

/* Attempts if the window is moved by others. */
#define NVDEBUG_PRAMIN_TRIES	3

/*
 * Why the PRAMIN window may not be moved, or NULL if it may. Without @ask
 * lockdown counts only if it is known, and the kernel writes no line to its log.
 */
const char *nvdebug_window_forbidden(const struct nvdebug_gpu *gpu, bool ask);

#endif
