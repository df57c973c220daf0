/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Copy-engine wiring: the LCE that each PCE is assigned to, and the LCE whose
 * PCEs a graphics copy engine (GRCE) shares.
 */
#ifndef NVDEBUG_DECODE_COPY_H
#define NVDEBUG_DECODE_COPY_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NVDEBUG_LCE_NONE	0xff

/*
 * Return the LCE that @pce is assigned to, from the config register: one
 * register for all PCEs up to Pascal, one per PCE from Volta on.
 * NVDEBUG_LCE_NONE if @pce is not assigned, or the register has no field for
 * it.
 */
u8 nvdebug_pce_lce_gp100(u32 config, u32 pce);
u8 nvdebug_pce_lce_gv100(u32 config, u32 pce);

/*
 * Return the LCE that shares its PCEs with @grce, or NVDEBUG_LCE_NONE. The
 * registers are arranged as for PCEs.
 */
u8 nvdebug_grce_lce_gp100(u32 config, u32 grce);
u8 nvdebug_grce_lce_gv100(u32 config, u32 grce);
u8 nvdebug_grce_lce_tu102(u32 config, u32 grce);

#ifdef __cplusplus
}
#endif
#endif
