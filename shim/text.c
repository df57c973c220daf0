// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/kernel.h>
#include <linux/seq_buf.h>
#include <linux/seq_file.h>
#include <stdlib.h>

static void reserve(struct seq_file *m, size_t more)
{
	if (m->size - m->count > more)
		return;
	m->size = 2 * (m->count + more) + 1024;
	m->buf = realloc(m->buf, m->size);
	if (!m->buf)
		abort();
}

void seq_vprintf(struct seq_file *m, const char *fmt, va_list args)
{
	va_list again;
	int n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	reserve(m, n);
	m->count += vsnprintf(m->buf + m->count, m->size - m->count, fmt, args);
}

void seq_printf(struct seq_file *m, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	seq_vprintf(m, fmt, args);
	va_end(args);
}

void seq_puts(struct seq_file *m, const char *text)
{
	seq_printf(m, "%s", text);
}

void seq_putc(struct seq_file *m, char c)
{
	seq_printf(m, "%c", c);
}

/* As the kernel's: what does not fit is left out, and all that follows. */
int seq_buf_printf(struct seq_buf *s, const char *fmt, ...)
{
	va_list args;
	int n;

	if (s->len < s->size) {
		va_start(args, fmt);
		n = vsnprintf(s->buffer + s->len, s->size - s->len, fmt, args);
		va_end(args);
		if (s->len + n < s->size) {
			s->len += n;
			return 0;
		}
	}
	s->len = s->size + 1;
	return -1;
}
