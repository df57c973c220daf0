/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * NV_USERMODE: the page of registers that programs may be given, doorbells
 * among them. A write there can only make Host look for work.
 *
 * Sources: open-gpu-doc manuals/volta/gv100/dev_usermode.ref.txt and
 * manuals/turing/tu104/dev_usermode.ref.txt; for the page of Hopper and newer
 * open-gpu-kernel-modules src/common/inc/swref/published/{turing/tu102,
 * blackwell/gb100,blackwell/gb202}/dev_vm.h (Hopper's is inferred to be
 * GB100's).
 */
#ifndef NVDEBUG_HW_USERMODE_H
#define NVDEBUG_HW_USERMODE_H

#include <linux/bits.h>

#define NV_USERMODE_NOTIFY_CHANNEL_PENDING	0x00810090 /* -W */
/* On Volta a write is the channel's id alone; on Turing it has these fields. */
#define  NV_USERMODE_NOTIFY_CHANNEL_PENDING_CHID GENMASK(11, 0)
#define  NV_USERMODE_NOTIFY_CHANNEL_PENDING_RUNLIST_ID GENMASK(22, 16)
#define  NV_USERMODE_NOTIFY_CHANNEL_PENDING_RUNLIST_ID_ALL 15

/* On Hopper and newer the function's own page is at 0xb80000 in BAR0. */
#define NV_VIRTUAL_FUNCTION_DOORBELL		0x00bb0090 /* -W */
#define  NV_VIRTUAL_FUNCTION_DOORBELL_VECTOR	GENMASK(11, 0)
#define  NV_VIRTUAL_FUNCTION_DOORBELL_RUNLIST_ID GENMASK(22, 16)
#define  NV_VIRTUAL_FUNCTION_DOORBELL_RUNLIST_DOORBELL_GB202 BIT(30)

#endif
