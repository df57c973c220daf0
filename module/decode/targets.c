// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/overflow.h>
#include <linux/string.h>

#include "decode/targets.h"

bool nvdebug_is_separator(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

bool nvdebug_cursor_more(struct nvdebug_cursor *cur)
{
	while (cur->at < cur->end && nvdebug_is_separator(*cur->at))
		cur->at++;
	return cur->at < cur->end;
}

/*
 * Return the digit's value, or U32_MAX, above any base, if @c is not a digit.
 */
static u32 digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return U32_MAX;
}

int nvdebug_cursor_number(struct nvdebug_cursor *cur, u64 max, u64 *number,
			  bool *too_large)
{
	const char *first;
	u64 value = 0;
	u32 base = 10;

	*number = 0;
	if (cur->end - cur->at > 1 && *cur->at == '0') {
		if (cur->at[1] == 'x' || cur->at[1] == 'X') {
			base = 16;
			cur->at += 2;
		} else if (digit_value(cur->at[1]) < base) {
			return -EINVAL;
		}
	}

	for (first = cur->at; cur->at < cur->end; cur->at++) {
		u32 digit = digit_value(*cur->at);

		if (digit >= base)
			break;
		if (check_mul_overflow(value, (u64)base, &value) ||
		    check_add_overflow(value, (u64)digit, &value) ||
		    value > max) {
			*too_large = true;
			value = max;
		}
	}
	*number = value;

	return cur->at == first ? -EINVAL : 0;
}

bool nvdebug_cursor_at_end_of_word(const struct nvdebug_cursor *cur)
{
	return cur->at == cur->end || nvdebug_is_separator(*cur->at);
}

static int take_id(struct nvdebug_cursor *cur, u32 *id, bool *too_large)
{
	u64 number;
	int ret = nvdebug_cursor_number(cur, U32_MAX, &number, too_large);

	*id = number;
	return ret;
}

int nvdebug_cursor_target(struct nvdebug_cursor *cur,
			  struct nvdebug_target *target)
{
	bool too_large = false;
	int ret;

	target->runlist = 0;
	target->has_runlist = false;
	ret = take_id(cur, &target->id, &too_large);
	if (ret)
		return ret;

	if (cur->at < cur->end && *cur->at == ':') {
		cur->at++;
		target->runlist = target->id;
		target->has_runlist = true;
		ret = take_id(cur, &target->id, &too_large);
		if (ret)
			return ret;
	}

	if (!nvdebug_cursor_at_end_of_word(cur))
		return -EINVAL;
	return too_large ? -ERANGE : 0;
}

int nvdebug_cursor_choice(struct nvdebug_cursor *cur,
			  const char * const *words, size_t n)
{
	const char *word = cur->at;
	size_t i, len;

	while (!nvdebug_cursor_at_end_of_word(cur))
		cur->at++;
	len = cur->at - word;
	for (i = 0; i < n; i++)
		if (strlen(words[i]) == len && !memcmp(words[i], word, len))
			return i;
	return -EINVAL;
}

int nvdebug_targets_parse(const char *text, size_t len,
			  struct nvdebug_target *targets, size_t max)
{
	struct nvdebug_cursor cur = { text, text + len };
	size_t n = 0;
	int ret;

	if (len > NVDEBUG_TARGETS_TEXT_MAX)
		return -E2BIG;

	while (nvdebug_cursor_more(&cur)) {
		if (n == max)
			return -E2BIG;
		ret = nvdebug_cursor_target(&cur, &targets[n++]);
		if (ret)
			return ret;
	}

	return n ? (int)n : -EINVAL;
}
