// SPDX-License-Identifier: MIT OR GPL-2.0
#include "core/gpu.h"
#include "decode/runlist.h"
#include "state/override.h"

struct nvdebug_override *
nvdebug_override_at(struct nvdebug_gpu *gpu,
		    const struct nvdebug_runlist *runlist,
		    const struct nvdebug_runlist_location *loc)
{
	struct nvdebug_override *list;

	lockdep_assert_held(&gpu->lock);
	list_for_each_entry(list, &gpu->overrides, node)
		if (list->runlist == runlist &&
		    nvdebug_runlist_location_same(&list->own, loc))
			return list;
	return NULL;
}

void nvdebug_override_original(struct nvdebug_gpu *gpu,
			       const struct nvdebug_runlist *runlist,
			       struct nvdebug_runlist_location *loc)
{
	const struct nvdebug_override *list =
		nvdebug_override_at(gpu, runlist, loc);

	if (list)
		*loc = list->original;
}
