// SPDX-License-Identifier: MIT OR GPL-2.0
#include "writes.h"

#include <sys/mman.h>

#include "ktap.h"
#include "tree.h"

#define KINDS 64
#define MAY_WRITE 0200

struct writes {
	unsigned long tried[KINDS], taken[KINDS];
};

struct writes *writes_make(void)
{
	struct writes *writes = mmap(NULL, sizeof(*writes),
				     PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ASSERT(writes != MAP_FAILED && file_kind_count <= KINDS,
	       "no memory for counts");
	return writes;
}

void writes_count(struct writes *writes, int fd, bool taken)
{
	const struct file_kind *kind = NULL;
	unsigned int gpu;
	char file[48];

	if (gpu_file_of(fd, &gpu, file))
		kind = file_kind(file);
	if (!kind || !(kind->mode & MAY_WRITE))
		return;
	__atomic_fetch_add(&writes->tried[kind - file_kinds], 1,
			   __ATOMIC_RELAXED);
	__atomic_fetch_add(&writes->taken[kind - file_kinds], taken,
			   __ATOMIC_RELAXED);
}

static unsigned long note(const char *name, unsigned long tried,
			  unsigned long taken)
{
	unsigned long share = tried ? 100 * taken / tried : 0;

	ktap_note("writes to %s: %lu, %lu taken (%lu %%)", name, tried, taken,
		  share);
	return share;
}

unsigned long writes_note(const struct writes *writes)
{
	unsigned long tried = 0, taken = 0;

	for (size_t i = 0; i < file_kind_count; i++) {
		if (file_kinds[i].mode & MAY_WRITE)
			note(file_kinds[i].name, writes->tried[i],
			     writes->taken[i]);
		tried += writes->tried[i];
		taken += writes->taken[i];
	}
	return note("all of them", tried, taken);
}
