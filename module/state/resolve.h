/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Resolves the targets of a request to runlists of this GPU. */
#ifndef NVDEBUG_RESOLVE_H
#define NVDEBUG_RESOLVE_H

#include <linux/types.h>

#include "decode/runlist.h"

struct nvdebug_gpu;
struct nvdebug_runlist;
struct nvdebug_target;

struct nvdebug_resolver {
	struct nvdebug_gpu *gpu;
	/* Kind of the targets: TSGs or channels. */
	enum nvdebug_entry_kind kind;
	/* Look in the driver's list where an override list is current. */
	bool original;
	/* For each runlist the ids in its list, read on first use. */
	unsigned long **ids;
};

int __must_check nvdebug_resolver_init(struct nvdebug_resolver *r,
				       struct nvdebug_gpu *gpu,
				       enum nvdebug_entry_kind kind);
void nvdebug_resolver_free(struct nvdebug_resolver *r);

/*
 * Find the runlist whose list has the target now. -EINVAL if there is none or,
 * for a target without a runlist, more than one; -ERANGE for an impossible id.
 * Other errors are those of reading a list. Called without gpu->lock.
 */
int __must_check nvdebug_resolve_listed(struct nvdebug_resolver *r,
					const struct nvdebug_target *t,
					struct nvdebug_runlist **found);

/*
 * Find the runlist of a channel. The channel need not be in a list if its id is
 * unambiguous: a global id (*@found is then NULL), or RUNLIST:ID where ids are
 * per runlist.
 */
int __must_check nvdebug_resolve_channel(struct nvdebug_resolver *r,
					 const struct nvdebug_target *t,
					 struct nvdebug_runlist **found);

#endif
