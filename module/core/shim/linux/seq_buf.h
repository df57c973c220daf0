/* SPDX-License-Identifier: MIT OR GPL-2.0 */
#ifndef SHIM_LINUX_SEQ_BUF_H
#define SHIM_LINUX_SEQ_BUF_H

#include <linux/compiler_attributes.h>
#include <linux/types.h>

struct seq_buf {
	char *buffer;
	size_t size;
	size_t len;	/* more than size after an overflow */
};

static inline void seq_buf_init(struct seq_buf *s, char *buffer,
				unsigned int size)
{
	s->buffer = buffer;
	s->size = size;
	s->len = 0;
}

static inline bool seq_buf_has_overflowed(struct seq_buf *s)
{
	return s->len > s->size;
}

static inline unsigned int seq_buf_used(struct seq_buf *s)
{
	return s->len < s->size ? s->len : s->size;
}

#ifdef __cplusplus
extern "C"
#endif
__printf(2, 3)
int seq_buf_printf(struct seq_buf *s, const char *fmt, ...);

#endif
