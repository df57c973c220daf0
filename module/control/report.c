// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/cred.h>
#include <linux/kernel.h>

#include "control/report.h"
#include "core/machine.h"

#define ITEMS_MAX	12

void nvdebug_report_begin(struct nvdebug_report *report)
{
	seq_buf_init(&report->list, report->text, sizeof(report->text));
	report->items = 0;
}

void nvdebug_report_item(struct nvdebug_report *report, const char *fmt, ...)
{
	char item[64];
	va_list args;

	if (report->items++ >= ITEMS_MAX)
		return;
	va_start(args, fmt);
	vsnprintf(item, sizeof(item), fmt, args);
	va_end(args);
	seq_buf_printf(&report->list, " %s", item);
}

void nvdebug_report_end(struct nvdebug_report *report,
			struct nvdebug_gpu *gpu, const char *did,
			const char *what)
{
	nvdebug_info_ratelimit(gpu, "%s %u %s%s:%.*s%s (by uid %u)\n", did, report->items,
			       what, report->items == 1 ? "" : "s",
			       (int)seq_buf_used(&report->list), report->text,
			       report->items > ITEMS_MAX ? " ..." : "",
			       from_kuid(&init_user_ns, current_uid()));
}
