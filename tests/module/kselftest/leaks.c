// SPDX-License-Identifier: MIT OR GPL-2.0
#include "leaks.h"

#include <ctype.h>
#include <string.h>

/*
 * Returns whether the number is an address of the kernel. Those are at the
 * upper end of 57 bits of addresses, or of 48. The very last of them look like
 * words of a GPU that did not answer, so they do not count.
 */
static bool is_kernel_address(const char *digits)
{
	return !strncmp(digits, "ff", 2) && strncmp(digits, "ffffffffd", 9) < 0;
}

bool has_kernel_address(const char *text, size_t size, char found[17])
{
	size_t digits = 0;

	for (size_t i = 0; i <= size; i++) {
		if (i < size && isxdigit((unsigned char)text[i])) {
			digits++;
			continue;
		}
		if (digits == 16 && is_kernel_address(text + i - 16)) {
			memcpy(found, text + i - 16, 16);
			found[16] = '\0';
			return true;
		}
		digits = 0;
	}
	return false;
}
