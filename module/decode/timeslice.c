// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/bitfield.h>
#include <linux/errno.h>
#include <linux/kernel.h>

#include "decode/timeslice.h"
#include "hw/ram.h"

#define TIMEOUT_MAX	FIELD_MAX(NV_RAMRL16_0_TSG_TIMESLICE_TIMEOUT)
#define SCALE_MAX	FIELD_MAX(NV_RAMRL16_0_TSG_TIMESLICE_SCALE)

static bool is_decimal_digit(char c)
{
	return c >= '0' && c <= '9';
}

int nvdebug_cursor_microseconds(struct nvdebug_cursor *cur, u64 *ns)
{
	static const u32 ns_of_decimal[] = { 100, 10, 1 };
	const char *first = cur->at;
	bool too_large = false;
	size_t i = 0;
	u64 us = 0;

	for (; cur->at < cur->end && is_decimal_digit(*cur->at); cur->at++) {
		us = us * 10 + (*cur->at - '0');
		if (us > U32_MAX) {
			too_large = true;
			us = U32_MAX;
		}
	}
	if (cur->at == first)
		return -EINVAL;
	*ns = us * 1000;

	if (cur->at < cur->end && *cur->at == '.') {
		cur->at++;
		while (i < ARRAY_SIZE(ns_of_decimal) && cur->at < cur->end &&
		       is_decimal_digit(*cur->at))
			*ns += (*cur->at++ - '0') * ns_of_decimal[i++];
		if (!i)
			return -EINVAL;
	}
	if (cur->at < cur->end && !nvdebug_is_separator(*cur->at))
		return -EINVAL;
	return too_large ? -ERANGE : 0;
}

int nvdebug_timeslice_encode(u64 ns, u8 *timeout, u8 *scale)
{
	u64 longest = (TIMEOUT_MAX << SCALE_MAX) * (u64)NV_TIMESLICE_UNIT_NS;
	u64 units;
	u32 shift = 0;

	if (ns < NV_TIMESLICE_UNIT_NS || ns > longest)
		return -ERANGE;
	units = ns / NV_TIMESLICE_UNIT_NS;
	while (units >> shift > TIMEOUT_MAX)
		shift++;
	*timeout = units >> shift;
	*scale = shift;
	return 0;
}

u32 nvdebug_entry8_set_timeslice(u32 word, u8 timeout, u8 scale)
{
	word &= ~(NV_RAMRL8_0_TIMESLICE_TIMEOUT | NV_RAMRL8_0_TIMESLICE_SCALE);
	return word | FIELD_PREP(NV_RAMRL8_0_TIMESLICE_TIMEOUT, timeout) |
	       FIELD_PREP(NV_RAMRL8_0_TIMESLICE_SCALE, scale);
}

u32 nvdebug_entry16_set_timeslice(u32 word, u8 timeout, u8 scale)
{
	word &= ~(NV_RAMRL16_0_TSG_TIMESLICE_TIMEOUT |
		  NV_RAMRL16_0_TSG_TIMESLICE_SCALE);
	return word | FIELD_PREP(NV_RAMRL16_0_TSG_TIMESLICE_TIMEOUT, timeout) |
	       FIELD_PREP(NV_RAMRL16_0_TSG_TIMESLICE_SCALE, scale);
}
