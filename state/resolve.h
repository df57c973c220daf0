/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * From the targets of a request to what they name on this GPU now.
 */
#ifndef NVDEBUG_RESOLVE_H
#define NVDEBUG_RESOLVE_H

#include <linux/types.h>

#include "decode/runlist.h"

struct nvdebug_gpu;
struct nvdebug_runlist;
struct nvdebug_target;

struct nvdebug_resolver {
	struct nvdebug_gpu *gpu;
	enum nvdebug_entry_kind kind;	/* what targets name: TSGs or channels */
	/* look in the driver's list where an override list is in force? */
	bool original;
	/* per runlist: the ids that it holds, read when first asked for */
	unsigned long **held;
};

int __must_check nvdebug_resolver_init(struct nvdebug_resolver *r,
				       struct nvdebug_gpu *gpu,
				       enum nvdebug_entry_kind kind);
void nvdebug_resolver_free(struct nvdebug_resolver *r);

/*
 * The runlist whose list holds the target now. -EINVAL if there is none, or,
 * for a target without a runlist, more than one; -ERANGE for an id that cannot
 * be. Other errors are those of reading a list. Without gpu->lock.
 */
int __must_check nvdebug_resolve_listed(struct nvdebug_resolver *r,
					const struct nvdebug_target *t,
					struct nvdebug_runlist **found);

/*
 * A channel by what is enough to name it: where ids are global *@found is
 * NULL, and where they are per runlist, RUNLIST:ID need not be in any list.
 */
int __must_check nvdebug_resolve_channel(struct nvdebug_resolver *r,
					 const struct nvdebug_target *t,
					 struct nvdebug_runlist **found);

#endif
