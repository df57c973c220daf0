// SPDX-License-Identifier: MIT OR GPL-2.0
#include "decode/occupied.h"

static bool owner_counts(const struct nvdebug_ctx_owner *owner,
			 nvdebug_counts_fn counts, const void *who)
{
	return counts(who, owner->is_tsg, owner->id);
}

bool nvdebug_pbdma_is_occupied(const struct nvdebug_ctx_status *status,
			       nvdebug_counts_fn counts, const void *who)
{
	if (status->state == NVDEBUG_CTX_SWITCH)
		return owner_counts(&status->owner, counts, who) ||
		       owner_counts(&status->next, counts, who);
	return nvdebug_engine_is_occupied(status, counts, who);
}

bool nvdebug_engine_is_occupied(const struct nvdebug_ctx_status *status,
				nvdebug_counts_fn counts, const void *who)
{
	switch (status->state) {
	case NVDEBUG_CTX_INVALID:
		return false;
	case NVDEBUG_CTX_VALID:
	case NVDEBUG_CTX_SAVE:
		return owner_counts(&status->owner, counts, who);
	case NVDEBUG_CTX_LOAD:
		return owner_counts(&status->next, counts, who);
	default:
		return true;
	}
}
