/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * One line in the log for each request, however long that was, and one for
 * what went wrong; of both only so many for each GPU in so much time.
 */
#ifndef NVDEBUG_REPORT_H
#define NVDEBUG_REPORT_H

#include <linux/compiler_attributes.h>
#include <linux/seq_buf.h>
#include <linux/types.h>

struct nvdebug_gpu;

void nvdebug_log_init(struct nvdebug_gpu *gpu);

/* One line; if it is one too many, the log says later how many there were. */
__printf(2, 3)
void nvdebug_say(struct nvdebug_gpu *gpu, const char *fmt, ...);
__printf(2, 3)
void nvdebug_complain(struct nvdebug_gpu *gpu, const char *fmt, ...);

struct nvdebug_report {
	struct seq_buf list;
	u32 items;
	char text[128];
};

void nvdebug_report_begin(struct nvdebug_report *report);
/* The first dozen are shown, the others counted. */
__printf(2, 3)
void nvdebug_report_item(struct nvdebug_report *report, const char *fmt, ...);
/* As in "disabled 2 channels: 0:4 0:5 (by uid 0)". */
void nvdebug_report_end(struct nvdebug_report *report,
			struct nvdebug_gpu *gpu, const char *did,
			const char *what);

#endif
