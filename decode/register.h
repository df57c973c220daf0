/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * What a register reads as: data, or an error of the register bus?
 *
 * Like all of decode/: pure functions from words to plain structs, no state,
 * no kernel services, so that tests in user space run the same code.
 */
#ifndef NVDEBUG_DECODE_REGISTER_H
#define NVDEBUG_DECODE_REGISTER_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Is @value an answer of the register bus rather than of a register?
 * Returns 0 for data, -ENODEV for all ones, -EIO for a PRI error code. Words
 * read from GPU memory may have such values legitimately.
 */
int nvdebug_reg_value_check(u32 value);

/*
 * May @word, which was read from memory, be overwritten by who takes it for
 * @expected? -EBUSY: it is another one, -EIO: it may be no answer at all.
 */
int nvdebug_word_check(u32 word, u32 expected);

#ifdef __cplusplus
}
#endif
#endif
