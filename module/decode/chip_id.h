/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * The chip id in PMC.
 */
#ifndef NVDEBUG_DECODE_CHIP_ID_H
#define NVDEBUG_DECODE_CHIP_ID_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nvdebug_chip_id {
	u16 chip;	/* architecture and implementation, e.g. 0x136 */
	u8 revision;	/* major in the high nibble, e.g. 0xa1 */
};

/*
 * @boot42: second id register, 0 if there is none or it could not be read.
 * Returns 0, the error of nvdebug_reg_value_check(@boot0), or -EINVAL if the
 * registers disagree (@id is then that of BOOT_0).
 */
int nvdebug_chip_id_decode(u32 boot0, u32 boot42, struct nvdebug_chip_id *id);

/* Is it a virtual function, by BOOT_1? */
bool nvdebug_boot1_is_virtual(u32 boot1);

#ifdef __cplusplus
}
#endif
#endif
