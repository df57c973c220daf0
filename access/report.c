// SPDX-License-Identifier: MIT OR GPL-2.0
#define dev_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cred.h>
#include <linux/device.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>

#include "access/report.h"
#include "core/gpu.h"

#define ITEMS_MAX	12

/* Of each kind of line; more is a program that runs wild, not a person. */
#define LINES		100
#define INTERVAL	(5 * HZ)

void nvdebug_log_init(struct nvdebug_gpu *gpu)
{
	ratelimit_state_init(&gpu->said, INTERVAL, LINES);
	ratelimit_state_init(&gpu->complained, INTERVAL, LINES);
}

void nvdebug_say(struct nvdebug_gpu *gpu, const char *fmt, ...)
{
	struct va_format line = { .fmt = fmt };
	va_list args;

	if (!___ratelimit(&gpu->said, KBUILD_MODNAME))
		return;
	va_start(args, fmt);
	line.va = &args;
	dev_info(gpu->dev, "%pV", &line);
	va_end(args);
}

void nvdebug_complain(struct nvdebug_gpu *gpu, const char *fmt, ...)
{
	struct va_format line = { .fmt = fmt };
	va_list args;

	if (!___ratelimit(&gpu->complained, KBUILD_MODNAME))
		return;
	va_start(args, fmt);
	line.va = &args;
	dev_err(gpu->dev, "%pV", &line);
	va_end(args);
}

void nvdebug_report_begin(struct nvdebug_report *report)
{
	seq_buf_init(&report->list, report->text, sizeof(report->text));
	report->items = 0;
}

void nvdebug_report_item(struct nvdebug_report *report, const char *fmt, ...)
{
	struct va_format item = { .fmt = fmt };
	va_list args;

	if (report->items++ >= ITEMS_MAX)
		return;
	va_start(args, fmt);
	item.va = &args;
	seq_buf_printf(&report->list, " %pV", &item);
	va_end(args);
}

void nvdebug_report_end(struct nvdebug_report *report,
			struct nvdebug_gpu *gpu, const char *did,
			const char *what)
{
	nvdebug_say(gpu, "%s %u %s%s:%.*s%s (by uid %u)\n", did, report->items,
		    what, report->items == 1 ? "" : "s",
		    (int)seq_buf_used(&report->list), report->text,
		    report->items > ITEMS_MAX ? " ..." : "",
		    from_kuid(&init_user_ns, current_uid()));
}
