// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/ktime.h>

#include "core/gpu.h"
#include "core/machine.h"
#include "host/await.h"

#define TIMEOUT_MS	1000

static int await_done(struct nvdebug_gpu *gpu, nvdebug_done_fn done,
		      const void *what, bool undo)
{
	ktime_t deadline = ktime_add_ms(ktime_get(), TIMEOUT_MS);
	bool late;
	int ret;

	for (;;) {
		/*
		 * The clock is read before done(), since the last sleep may
		 * have been too long.
		 */
		late = ktime_after(ktime_get(), deadline);
		ret = done(gpu, what);
		if (ret)
			return ret < 0 ? ret : 0;
		if (late)
			return -ETIMEDOUT;
		ret = undo ? 0 : nvdebug_gpu_check_stop(gpu);
		if (ret)
			return ret;
		usleep_range(20, 50);
	}
}

int nvdebug_await(struct nvdebug_gpu *gpu, nvdebug_done_fn done,
		  const void *what)
{
	return await_done(gpu, done, what, false);
}

int nvdebug_await_undo(struct nvdebug_gpu *gpu, nvdebug_done_fn done,
		       const void *what)
{
	return await_done(gpu, done, what, true);
}
