/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Decodes the chip id in PMC. */
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
 * Decode the id. @boot42 is the second id register, 0 if there is none or it
 * could not be read. Returns 0, the error of nvdebug_reg_value_check(@boot0),
 * or -EINVAL if the registers disagree (@id then comes from BOOT_0).
 */
int nvdebug_chip_id_decode(u32 boot0, u32 boot42, struct nvdebug_chip_id *id);

/* Return whether BOOT_1 shows a virtual function. */
bool nvdebug_boot1_is_virtual(u32 boot1);

#ifdef __cplusplus
}
#endif
#endif
