// SPDX-License-Identifier: MIT OR GPL-2.0
#include "decode/occupied.h"

static bool owner_matches(const struct nvdebug_ctx_owner *owner,
			  nvdebug_match_fn match, const void *data)
{
	return match(data, owner->is_tsg, owner->id);
}

bool nvdebug_pbdma_is_occupied(const struct nvdebug_ctx_status *status,
			       nvdebug_match_fn match, const void *data)
{
	if (status->state == NVDEBUG_CTX_SWITCH)
		return owner_matches(&status->owner, match, data) ||
		       owner_matches(&status->next, match, data);
	return nvdebug_engine_is_occupied(status, match, data);
}

bool nvdebug_engine_is_occupied(const struct nvdebug_ctx_status *status,
				nvdebug_match_fn match, const void *data)
{
	switch (status->state) {
	case NVDEBUG_CTX_INVALID:
		return false;
	case NVDEBUG_CTX_VALID:
	case NVDEBUG_CTX_SAVE:
		return owner_matches(&status->owner, match, data);
	case NVDEBUG_CTX_LOAD:
		return owner_matches(&status->next, match, data);
	default:
		return true;
	}
}
