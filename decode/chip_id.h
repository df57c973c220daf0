/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What PMC says: which chip is it?
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
 * @boot42 is the chip's second statement of who it is, 0 if there is none or
 * it could not be read. Returns 0, what nvdebug_reg_value_check() says of
 * @boot0, or -EINVAL if the two registers disagree (@id then has BOOT_0's view).
 */
int nvdebug_chip_id_decode(u32 boot0, u32 boot42, struct nvdebug_chip_id *id);

/* Does BOOT_1 say that this is a virtual function? */
bool nvdebug_boot1_is_virtual(u32 boot1);

#ifdef __cplusplus
}
#endif
#endif
