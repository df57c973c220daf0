/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Reads the module's lines in the kernel's log. */
#ifndef KLOG_H
#define KLOG_H

#include <stddef.h>

/* Opens the log at its present end. Ends the test if the log cannot be read. */
int klog_open(void);

/* Reads the module's lines since the last call; *text is malloc()ed. */
size_t klog_lines(int fd, char **text);

#endif
