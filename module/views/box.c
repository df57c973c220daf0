// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/kernel.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "views/box.h"

static void put_dashes(struct seq_file *m, int n)
{
	while (n-- > 0)
		seq_putc(m, '-');
}

void nvdebug_box_open(struct nvdebug_box *box, int indent, int lead,
		      const char *title, ...)
{
	char text[NVDEBUG_BOX_WIDTH];
	va_list args;
	int len;

	va_start(args, title);
	len = vscnprintf(text, sizeof(text), title, args);
	va_end(args);

	box->indent = indent;
	seq_printf(box->m, "%*s+", indent, "");
	put_dashes(box->m, lead);
	seq_printf(box->m, " %s ", text);
	put_dashes(box->m, NVDEBUG_BOX_WIDTH - indent - lead - len - 4);
	seq_puts(box->m, "+\n");
}

void nvdebug_box_line(const struct nvdebug_box *box, const char *key,
		      const char *value, ...)
{
	char text[NVDEBUG_BOX_WIDTH];
	va_list args;
	int room;

	va_start(args, value);
	vscnprintf(text, sizeof(text), value, args);
	va_end(args);

	/* The line consists of "| ", key, ":", value and " |". */
	room = NVDEBUG_BOX_WIDTH - box->indent - (int)strlen(key) - 5;
	seq_printf(box->m, "%*s| %s:%*s |\n", box->indent, "", key, room, text);
}

void nvdebug_box_flag(const struct nvdebug_box *box, const char *key, bool value)
{
	nvdebug_box_line(box, key, "%d", value);
}

void nvdebug_box_wide_address(const struct nvdebug_box *box, const char *key,
			      int digits, u64 address, bool hide)
{
	if (hide)
		nvdebug_box_line(box, key, "hidden");
	else
		nvdebug_box_line(box, key, "0x%0*llx", digits, address);
}

void nvdebug_box_address(const struct nvdebug_box *box, const char *key,
			 u64 address, bool hide)
{
	nvdebug_box_wide_address(box, key, 8, address, hide);
}

void nvdebug_box_close(const struct nvdebug_box *box)
{
	seq_printf(box->m, "%*s+", box->indent, "");
	put_dashes(box->m, NVDEBUG_BOX_WIDTH - box->indent - 2);
	seq_puts(box->m, "+\n");
}
