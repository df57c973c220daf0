/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * PRAMIN: 1 MiB of BAR0 that shows whatever the window register says.
 *
 * A driver has that register to itself. NVIDIA's remembers where it put the
 * window, does not write the register when that is where it wants it, and
 * writes page tables and instance blocks through it: while we have it moved,
 * such a write goes elsewhere in video memory, and no look at the register
 * shows that. So the window is moved only while no driver is bound, unless the
 * administrator says otherwise.
 *
 * It is moved for one burst at a time: under gpu->lock and with interrupts off
 * the register is saved, the window moved, a few words read, the register
 * looked at, and put back if nobody else has written it.
 */
#ifndef NVDEBUG_PRAMIN_H
#define NVDEBUG_PRAMIN_H

#include <linux/list.h>
#include <linux/types.h>

#include "core/machine.h"

struct nvdebug_gpu;

/* The window as a session knows it. */
struct nvdebug_pramin {
	struct nvdebug_gpu *gpu;
	const struct nvdebug_window *window;
	u32 standing;	/* the register's value at the last look */
	int error;	/* of the last look */
	bool insist;	/* nothing ends a request early */
};

/* Look where the window is. @p->error says whether that worked. */
void nvdebug_pramin_look(struct nvdebug_pramin *p);

/* How many bytes a window at @position shows from @addr of video memory on. */
u64 nvdebug_pramin_shows(const struct nvdebug_pramin *p, u32 position, u64 addr);
/*
 * Lockdown forbids changes, but not to put back what was changed before it. A
 * driver and pram_window=never forbid that too.
 */
bool nvdebug_pramin_may_move(const struct nvdebug_pramin *p);
/*
 * May be written through the window as it stands? No look could keep a driver
 * from moving it right before the write.
 */
bool nvdebug_pramin_may_write(const struct nvdebug_pramin *p);
/* Could the window be moved to show @addr? */
bool nvdebug_pramin_reaches(const struct nvdebug_pramin *p, u64 addr);
/*
 * The position to read @bytes from @addr on: that of the MiB they are in, or,
 * if they are not in one, the one that shows most of them.
 */
u32 nvdebug_pramin_position(const struct nvdebug_pramin *p, u64 addr, u64 bytes);

/*
 * Read the pieces of all fetches that are in @fetches by their progress.queue,
 * with the window at @position, which is where it stands or where it may be
 * moved. progress.got says how much of each piece was read. -EAGAIN: the window
 * is not where it stood, or was moved meanwhile; -EINTR, -ENODEV, -EIO. Takes
 * gpu->lock for each burst.
 */
int __must_check nvdebug_pramin_read(struct nvdebug_pramin *p, u32 position,
				     struct list_head *fetches);
/*
 * Write one word if it is @expected. -EAGAIN: the window is not where it stood,
 * or was moved before the write; -EBUSY: it was moved during the write, or it
 * is another word; -EIO: it reads as something else afterwards.
 */
int __must_check nvdebug_pramin_write(struct nvdebug_pramin *p, u32 position,
				      u64 addr, u32 expected, u32 value);

/* How often to start over because somebody moved the window. */
#define NVDEBUG_PRAMIN_TRIES	3

/* Why the PRAMIN window may not be moved, or NULL if it may. */
const char *nvdebug_window_forbidden(const struct nvdebug_gpu *gpu);

#endif
