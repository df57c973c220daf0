/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* What a text must not have: where the kernel has its memory. */
#ifndef LEAKS_H
#define LEAKS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A number of 16 digits that is an address of the kernel's, copied to `found`.
 */
bool has_kernel_address(const char *text, size_t size, char found[17]);

#endif
