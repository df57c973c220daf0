/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Parser for the control files: channels, TSGs or runlists, as "ID" or
 * "RUNLIST:ID", and keywords, separated by blanks or newlines.
 */
#ifndef NVDEBUG_DECODE_TARGETS_H
#define NVDEBUG_DECODE_TARGETS_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NVDEBUG_TARGETS_MAX		256
#define NVDEBUG_TARGETS_TEXT_MAX	4095

struct nvdebug_target {
	u32 runlist;	/* if has_runlist */
	u32 id;
	bool has_runlist;
};

/* Does @c separate words? */
bool nvdebug_is_separator(char c);

/* The rest of the text that is still to be parsed. */
struct nvdebug_cursor {
	const char *at;
	const char *end;
};

/* Go to the next word. Returns false if there is none. */
bool nvdebug_cursor_more(struct nvdebug_cursor *cur);
/*
 * Parse a number, decimal or 0x.... It ends at the first character that is not
 * a digit of its base, which the caller has to check. So a number above @max
 * only sets *@too_large: "99999999999x" is -EINVAL, not -ERANGE. Returns 0, or
 * -EINVAL if there is no digit, or a 0 before another digit: such a number
 * might be meant as octal or as decimal.
 */
int nvdebug_cursor_number(struct nvdebug_cursor *cur, u64 max, u64 *number,
			  bool *too_large);
/* Return whether the cursor is at the end of a word. */
bool nvdebug_cursor_at_end_of_word(const struct nvdebug_cursor *cur);
/*
 * Parse the word as a target. Returns 0, -EINVAL or -ERANGE, with the meanings
 * of nvdebug_targets_parse().
 */
int nvdebug_cursor_target(struct nvdebug_cursor *cur,
			  struct nvdebug_target *target);
/* Parse the word as one of @n @words. Returns the index, or -EINVAL. */
int nvdebug_cursor_choice(struct nvdebug_cursor *cur,
			  const char * const *words, size_t n);

/*
 * Parse @len bytes of @text (no terminator needed) into at most @max targets.
 * Numbers are decimal or 0x..., without a sign.
 *
 * Returns how many targets there are, or
 *   -EINVAL  none at all, or anything that is not a target
 *   -ERANGE  a number of more than 32 bits
 *   -E2BIG   more than @max targets or NVDEBUG_TARGETS_TEXT_MAX bytes
 * for the first error; the contents of @targets are then undefined.
 */
int nvdebug_targets_parse(const char *text, size_t len,
			  struct nvdebug_target *targets, size_t max);

#ifdef __cplusplus
}
#endif
#endif
