/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Copy-engine wiring: which logical engine a physical one works for, and
 * whose physical engines a graphics copy engine (GRCE) borrows.
 */
#ifndef NVDEBUG_DECODE_COPY_H
#define NVDEBUG_DECODE_COPY_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NVDEBUG_LCE_NONE	0xff

/*
 * The LCE that physical engine @pce works for, from the register that has it:
 * one for all up to Pascal, one per engine from Volta on. NVDEBUG_LCE_NONE if
 * it works for none, or if the register has no room for @pce.
 */
u8 nvdebug_pce_lce_gp100(u32 config, u32 pce);
u8 nvdebug_pce_lce_gv100(u32 config, u32 pce);

/* The LCE whose physical engines GRCE @grce borrows, likewise. */
u8 nvdebug_grce_lce_gp100(u32 config, u32 grce);
u8 nvdebug_grce_lce_gv100(u32 config, u32 grce);
u8 nvdebug_grce_lce_tu102(u32 config, u32 grce);

#ifdef __cplusplus
}
#endif
#endif
