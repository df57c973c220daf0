/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Everything that is printed is appended to a buffer that grows. */
#ifndef SHIM_LINUX_SEQ_FILE_H
#define SHIM_LINUX_SEQ_FILE_H

#include <linux/compiler_attributes.h>
#include <linux/types.h>
#include <stdarg.h>

struct seq_file {
	char *buf;	/* allocated by the C library */
	size_t size;
	size_t count;	/* number of bytes printed */
};

#ifdef __cplusplus
extern "C" {
#endif

void seq_vprintf(struct seq_file *m, const char *fmt, va_list args);
__printf(2, 3)
void seq_printf(struct seq_file *m, const char *fmt, ...);
void seq_puts(struct seq_file *m, const char *text);
void seq_putc(struct seq_file *m, char c);

#ifdef __cplusplus
}
#endif

#endif
