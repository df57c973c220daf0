/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Tells data in a register from an error code of the register bus.
 *
 * Like all of decode/, these are pure functions from words to plain structs,
 * without state or kernel services, so that tests in user space run the same
 * code.
 */
#ifndef NVDEBUG_DECODE_REGISTER_H
#define NVDEBUG_DECODE_REGISTER_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Return 0 for data, -ENODEV for all ones, -EIO for a PRI error code. Words in
 * GPU memory may legitimately have such values.
 */
int nvdebug_reg_value_check(u32 value);

/*
 * Check a word of memory before it is overwritten: -EBUSY if it is not
 * @expected, -EIO if it may be an error code.
 */
int nvdebug_word_check(u32 word, u32 expected);

#ifdef __cplusplus
}
#endif
#endif
