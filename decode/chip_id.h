/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What PMC says: which chip, and is this an answer at all?
 *
 * Like all of decode/: pure functions from words to plain structs, no state,
 * no kernel services, so that tests in user space run the same code.
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
 * Is @value an answer of the register bus rather than of a register?
 * Returns 0 for data, -ENODEV for all ones, -EIO for a PRI error code. Words
 * read from GPU memory may have such values legitimately.
 */
int nvdebug_reg_value_check(u32 value);

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
