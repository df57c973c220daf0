// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/errno.h>

#include "decode/register.h"
#include "hw/pmc.h"

int nvdebug_reg_value_check(u32 value)
{
	if (value == NV_PRI_GONE)
		return -ENODEV;
	if ((value & NV_PRI_ERROR_MASK) == NV_PRI_ERROR)
		return -EIO;
	return 0;
}

int nvdebug_word_check(u32 word, u32 expected)
{
	if (nvdebug_reg_value_check(word))
		return -EIO;
	return word == expected ? 0 : -EBUSY;
}
