/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * NV_USERMODE: the page of registers that programs may be given, doorbells
 * among them. Whatever is written there can only make Host look for work.
 *
 * Sources: open-gpu-doc manuals/volta/gv100/dev_usermode.ref.txt and
 * manuals/turing/tu104/dev_usermode.ref.txt.
 */
#ifndef NVDEBUG_HW_USERMODE_H
#define NVDEBUG_HW_USERMODE_H

#include <linux/bits.h>

#define NV_USERMODE_NOTIFY_CHANNEL_PENDING	0x00810090 /* -W */
/* Volta: the channel's id and nothing else; Turing: */
#define  NV_USERMODE_NOTIFY_CHANNEL_PENDING_CHID GENMASK(11, 0)
#define  NV_USERMODE_NOTIFY_CHANNEL_PENDING_RUNLIST_ID GENMASK(22, 16)
#define  NV_USERMODE_NOTIFY_CHANNEL_PENDING_RUNLIST_ID_ALL 15

#endif
