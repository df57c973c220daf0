// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/ktime.h>
#include <linux/sched/signal.h>

#include "await.h"
#include "gpu.h"

#define PATIENCE_MS	1000

int nvdebug_await(struct nvdebug_gpu *gpu,
		  int (*done)(struct nvdebug_gpu *gpu, const void *what),
		  const void *what)
{
	ktime_t deadline = ktime_add_ms(ktime_get(), PATIENCE_MS);
	bool late;
	int ret;

	for (;;) {
		/* looked at before asking: sleep may take longer than planned */
		late = ktime_after(ktime_get(), deadline);
		ret = done(gpu, what);
		if (ret)
			return ret < 0 ? ret : 0;
		if (late)
			return -ETIMEDOUT;
		if (fatal_signal_pending(current))
			return -EINTR;
		if (READ_ONCE(gpu->gone))
			return -ENODEV;
		usleep_range(20, 50);
	}
}
