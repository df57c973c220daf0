/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Reports each request in one line of the log. */
#ifndef NVDEBUG_CONTROL_REPORT_H
#define NVDEBUG_CONTROL_REPORT_H

#include <linux/compiler_attributes.h>
#include <linux/seq_buf.h>
#include <linux/types.h>

struct nvdebug_gpu;

struct nvdebug_report {
	struct seq_buf list;
	u32 items;
	char text[128];
};

void nvdebug_report_begin(struct nvdebug_report *report);
/* Add an item. The first 12 items are printed, the others counted. */
__printf(2, 3)
void nvdebug_report_item(struct nvdebug_report *report, const char *fmt, ...);
/* Log e.g. "disabled 2 channels: 0:4 0:5 (by uid 0)". */
void nvdebug_report_end(struct nvdebug_report *report,
			struct nvdebug_gpu *gpu, const char *did,
			const char *what);

#endif
