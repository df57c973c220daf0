// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/capability.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/ioport.h>
#include <linux/ratelimit.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "access/bus.h"
#include "access/device.h"
#include "access/pramin.h"
#include "core/view.h"
#include "gpus/gpu.h"
#include "gpus/gpus.h"
#include "probe/info.h"
#include "proc/info.h"

/*
 * A snapshot of info. Its other facts, except for the modes, were read when the
 * GPU was identified.
 */
struct info_snapshot {
	struct nvdebug_snapshot base;
	char driver[32];
	const char *forbidden;	/* why the window may not move */
	/* The reason why no file can be read now, or NULL. */
	const char *away;
};

/*
 * Return whether this task's open of info may access the GPU: only root's may.
 */
static bool may_access_gpu(void)
{
	return ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN);
}

static void info_refresh(struct nvdebug_device *device)
{
	nvdebug_device_follow_registers(device);
	nvdebug_device_read_modes(device);
	/* The GPU may be awake by now, or its driver may have set it up. */
	if (__ratelimit(&device->probe_ratelimit))
		nvdebug_gpus_probe_again(device);
}

static struct nvdebug_snapshot *info_take(struct nvdebug_gpu *gpu, u32 id)
{
	struct nvdebug_device *device = nvdebug_device(gpu);
	struct info_snapshot *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	bool root = may_access_gpu();

	if (!s)
		return ERR_PTR(-ENOMEM);
	s->base.records = 1;

	nvdebug_device_driver_name(device, s->driver, sizeof(s->driver));
	s->forbidden = nvdebug_window_forbidden(gpu, root);
	if (root)
		info_refresh(device);
	if (nvdebug_device_why_busy(device, &s->away)) {
		kfree(s);
		return ERR_PTR(-EINTR);
	}
	if (!s->away)
		s->away = READ_ONCE(device->closed);
	return &s->base;
}

static void info_free(struct nvdebug_snapshot *base)
{
	kfree(container_of(base, struct info_snapshot, base));
}

static void show_pci(struct seq_file *m, const void *bus)
{
	const struct nvdebug_device *device = bus;

	device->bus->show_pci(m, device);
}

static void show_platform(struct seq_file *m, const void *bus)
{
	const struct nvdebug_device *device = bus;

	device->bus->show_platform(m, device);
}

static void info_show(struct seq_file *m, struct nvdebug_gpu *gpu,
		      const struct nvdebug_snapshot *base, size_t record)
{
	const struct info_snapshot *s =
		container_of(base, struct info_snapshot, base);
	struct nvdebug_device *device = nvdebug_device(gpu);
	struct nvdebug_attachment attachment = {
		.identified = device->identified,
		.driver = s->driver,
		.away = s->away,
		.window = s->forbidden,
		.show_pci = device->bus->show_pci ? show_pci : NULL,
		.show_platform = device->bus->show_platform ?
					 show_platform : NULL,
		.bus = device,
	};
	int bar;

	BUILD_BUG_ON(NVDEBUG_BARS != NVDEBUG_INFO_BARS);
	for (bar = 0; bar < NVDEBUG_BARS; bar++)
		if (device->bar[bar])
			attachment.bar_bytes[bar] =
				resource_size(device->bar[bar]);

	nvdebug_info_show(m, gpu, &attachment);
}

const struct nvdebug_view nvdebug_info_view = {
	.take = info_take,
	.show = info_show,
	.free = info_free,
};
