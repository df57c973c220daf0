// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/kernel.h>
#include <linux/seq_buf.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <stdlib.h>

/* A buffer of this size is enough for most texts. */
#define LINE 128

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
	size_t n;

	va_copy(again, args);
	reserve(m, LINE);
	n = vsnprintf(m->buf + m->count, m->size - m->count, fmt, args);
	if (n >= m->size - m->count) {
		reserve(m, n);
		vsnprintf(m->buf + m->count, m->size - m->count, fmt, again);
	}
	va_end(again);
	m->count += n;
}

void seq_printf(struct seq_file *m, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	seq_vprintf(m, fmt, args);
	va_end(args);
}

static void seq_append(struct seq_file *m, const char *text, size_t n)
{
	reserve(m, n);
	memcpy(m->buf + m->count, text, n);
	m->count += n;
	m->buf[m->count] = '\0';
}

void seq_puts(struct seq_file *m, const char *text)
{
	seq_append(m, text, strlen(text));
}

void seq_putc(struct seq_file *m, char c)
{
	seq_append(m, &c, 1);
}

/*
 * Prints as the kernel does: a text that does not fit is left out, together
 * with all texts that follow.
 */
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
