/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * PRAMIN: 1 MiB of BAR0 that shows whatever the window register says. The
 * register is shared with the GPU's driver, which knows nothing of us and
 * whose lock we cannot take. So: use the window as it stands if it happens to
 * show what is wanted; else move it, read in short bursts with interrupts off,
 * look again and again whether it is still where we put it, and put it back,
 * but only from there. A driver that uses the window meanwhile on another CPU
 * still accesses the wrong memory; that is what pram_window=never is for.
 */
#ifndef NVDEBUG_PRAMIN_H
#define NVDEBUG_PRAMIN_H

#include <linux/list.h>
#include <linux/types.h>

#include "memory.h"

struct nvdebug_gpu;

/* The window while a session uses it: under gpu->lock from open to close. */
struct nvdebug_pramin {
	struct nvdebug_gpu *gpu;
	const struct nvdebug_window *window;
	u32 saved;	/* to be put back */
	u32 value;	/* what the register should read */
	bool moved;
	bool insist;	/* nothing ends a request early */
	int error;	/* there is no using it */
};

/* Look where the window is. @p->error says whether that worked. */
void nvdebug_pramin_open(struct nvdebug_pramin *p);
/* Put it back, if it is where we moved it. */
void nvdebug_pramin_close(struct nvdebug_pramin *p);

/* How many bytes a window at @position shows from @addr of video memory on. */
u64 nvdebug_pramin_shows(const struct nvdebug_pramin *p, u32 position, u64 addr);
/* Lockdown forbids changes, but not to put back what was changed before it. */
bool nvdebug_pramin_may_move(const struct nvdebug_pramin *p);
/* Could the window be moved to show @addr? */
bool nvdebug_pramin_reaches(const struct nvdebug_pramin *p, u64 addr);
/*
 * The position to read @bytes from @addr on: that of the MiB they are in, or,
 * if they are not in one, the one that shows most of them.
 */
u32 nvdebug_pramin_position(const struct nvdebug_pramin *p, u64 addr, u64 bytes);

/*
 * Read the pieces of all fetches that are in @fetches by their progress.queue,
 * with the window at @position. @last: nothing else will want it there; put it
 * back with the last word. progress.got says how much of each piece was read.
 * -EAGAIN: somebody else moved the window; -EINTR, -ENODEV.
 */
int __must_check nvdebug_pramin_read(struct nvdebug_pramin *p, u32 position,
				     struct list_head *fetches, bool last);
/*
 * Write one word if it is @expected, and put the window back. -EAGAIN: somebody
 * moved the window before; -EBUSY: meanwhile, or it is another word; -EIO: it
 * reads as something else afterwards.
 */
int __must_check nvdebug_pramin_write(struct nvdebug_pramin *p, u32 position,
				      u64 addr, u32 expected, u32 value);

/* How often to start over because somebody moved the window. */
#define NVDEBUG_PRAMIN_TRIES	3

#endif
