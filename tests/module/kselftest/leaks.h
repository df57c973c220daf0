/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Finds addresses of the kernel's memory, which no text may have. */
#ifndef LEAKS_H
#define LEAKS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns whether the text has a number of 16 digits that is an address of the
 * kernel. It is copied to `found`.
 */
bool has_kernel_address(const char *text, size_t size, char found[17]);

#endif
