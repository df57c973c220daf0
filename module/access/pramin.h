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
	int error;	/* error of reading it; -EAGAIN: not read */
	bool restoring;	/* see nvdebug_mem_set_restoring() */
};

/*
 * Take gpu->lock, which excludes other sessions' bursts. Fails as a burst does
 * when the session has to stop.
 */
int __must_check nvdebug_pramin_lock(const struct nvdebug_pramin *p);
/*
 * Return whether the window is still at p->standing. Called with the lock held.
 */
bool nvdebug_pramin_is_unmoved(const struct nvdebug_pramin *p);
/*
 * Read the word at @addr, which the window must show. Called with the lock
 * held.
 */
u32 nvdebug_pramin_word(const struct nvdebug_pramin *p, u64 addr);

/* Read the window register into p->standing; result in p->error. */
void nvdebug_pramin_read_register(struct nvdebug_pramin *p);

/* Return how many bytes from @addr on a window at @position covers. */
u64 nvdebug_pramin_covers(const struct nvdebug_pramin *p, u32 position,
			  u64 addr);
/*
 * Return whether the window may be moved. It is not moved with a driver bound,
 * with pram_window=never, or under lockdown, which does not apply to restoring
 * state (p->restoring).
 */
bool nvdebug_pramin_may_move(const struct nvdebug_pramin *p);
/*
 * Return whether a driver may move the window at any time. Nothing is then
 * written through it, and words are read twice.
 */
bool nvdebug_pramin_is_shared(const struct nvdebug_pramin *p);
/* Return whether the window can be moved to @addr. */
bool nvdebug_pramin_reaches(const struct nvdebug_pramin *p, u64 addr);
/*
 * Return the position for reading @bytes at @addr: aligned to a MiB if the
 * bytes are within one, else starting at @addr.
 */
u32 nvdebug_pramin_position(const struct nvdebug_pramin *p, u64 addr, u64 bytes);

/*
 * Read the pieces of all @requests with the window at @position, which is
 * p->standing or a position that the window may be moved to. Sets progress.got.
 * -EAGAIN: others moved the window; -EINTR, -ENODEV, -EIO. Takes gpu->lock for
 * each burst.
 */
int __must_check nvdebug_pramin_read(struct nvdebug_pramin *p, u32 position,
				     struct list_head *requests);
/*
 * Write one word if the word and its guards are as expected. -EAGAIN: others
 * moved the window before the write. -EBUSY: they moved it during the write, or
 * a word has another value. -EIO: the word reads back differently.
 */
int __must_check nvdebug_pramin_write(struct nvdebug_pramin *p, u32 position,
				      const struct nvdebug_mem_change *change);

/* Attempts if others move the window. */
#define NVDEBUG_PRAMIN_TRIES	3

/*
 * Return why the PRAMIN window may not be moved, or NULL if it may be moved.
 * Without @ask lockdown counts only if it is known, and the kernel writes no
 * line to its log.
 */
const char *nvdebug_window_forbidden(const struct nvdebug_gpu *gpu, bool ask);

#endif
