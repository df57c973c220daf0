/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The state of a channel.
 */
#ifndef NVDEBUG_CORE_CHANNEL_H
#define NVDEBUG_CORE_CHANNEL_H

#include <linux/types.h>

/* A channel's registers, as read. */
struct nvdebug_channel {
	u32 state;
	u32 inst;	/* PCCSR only */
};

#endif
