// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/capability.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/ioport.h>
#include <linux/jiffies.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "access/bus.h"
#include "access/device.h"
#include "access/pramin.h"
#include "chips/chips.h"
#include "core/view.h"
#include "gpus/gpu.h"
#include "gpus/gpus.h"
#include "probe/modes.h"
#include "proc/info.h"

/* All else, except for the modes, was read when the GPU was identified. */
struct info_snapshot {
	struct nvdebug_snapshot base;
	char driver[32];
	const char *forbidden;	/* why the window may not be moved */
	const char *away;	/* why no file can be read now, or NULL */
};

static const char * const feature_names[NVDEBUG_FEATURES] = {
	[NVDEBUG_FEATURE_DEVICE_INFO] = "device_info",
	[NVDEBUG_FEATURE_RUNLIST] = "runlist",
	[NVDEBUG_FEATURE_CHANNEL_CONTROL] = "channel_control",
	[NVDEBUG_FEATURE_COPY_TOPOLOGY] = "copy_topology",
	[NVDEBUG_FEATURE_ENGINES] = "engines",
	[NVDEBUG_FEATURE_CONTEXTS] = "contexts",
	[NVDEBUG_FEATURE_CONTEXT_STATE] = "context_state",
	[NVDEBUG_FEATURE_RUNLIST_CONTROL] = "runlist_control",
	[NVDEBUG_FEATURE_GPC_TOPOLOGY] = "gpc_topology",
	[NVDEBUG_FEATURE_WORK_DISTRIBUTOR] = "work_distributor",
	[NVDEBUG_FEATURE_PREEMPTION_MODE] = "preemption_mode",
};

/* The first feature printed after the lines about memory. */
#define AFTER_MEMORY	NVDEBUG_FEATURE_ENGINES

/* The file is world readable: only root's open accesses the GPU. */
static bool info_may_access_gpu(void)
{
	return ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN);
}

static void info_refresh(struct nvdebug_device *device)
{
	nvdebug_device_read_modes(device);
	/* a driver may set the GPU up after its probe */
	if (time_after(jiffies, READ_ONCE(device->looked) + HZ))
		nvdebug_gpus_look_again(device);
}

static struct nvdebug_snapshot *info_take(struct nvdebug_gpu *gpu, u32 id)
{
	struct nvdebug_device *device = nvdebug_device(gpu);
	struct info_snapshot *s = kzalloc(sizeof(*s), GFP_KERNEL);
	int ret;

	if (!s)
		return ERR_PTR(-ENOMEM);
	s->base.records = 1;

	ret = nvdebug_device_driver_name(device, s->driver, sizeof(s->driver));
	if (ret) {
		kfree(s);
		return ERR_PTR(ret);
	}
	s->forbidden = nvdebug_window_forbidden(gpu);
	if (info_may_access_gpu())
		info_refresh(device);
	s->away = READ_ONCE(device->closed);
	if (nvdebug_device_is_given_away(device))
		s->away = NVDEBUG_GIVEN_AWAY;
	return &s->base;
}

static void info_free(struct nvdebug_snapshot *base)
{
	kfree(container_of(base, struct info_snapshot, base));
}

/* The lines of this bus, or @none if they are another bus's. */
static void put_lines(struct seq_file *m, const struct nvdebug_device *device,
		      void (*show)(struct seq_file *m,
				   const struct nvdebug_device *device),
		      const char *none)
{
	if (show)
		show(m, device);
	else
		seq_puts(m, none);
}

static void put_bar_sizes(struct seq_file *m, const struct nvdebug_device *device)
{
	int bar;

	for (bar = 0; bar < NVDEBUG_BARS; bar++) {
		if (device->bar[bar])
			seq_printf(m, "bar%d_size: %llu\n", bar,
				   (u64)resource_size(device->bar[bar]));
		else
			seq_printf(m, "bar%d_size: -\n", bar);
	}
}

/* Of the GPU, or of all runlists if they agree; 0: unknown. */
static u32 channel_count(const struct nvdebug_gpu *gpu)
{
	const struct nvdebug_topology *topology = &gpu->topology;
	u32 count = topology->channels;
	u32 i;

	for (i = 0; i < topology->runlists; i++) {
		u32 channels = READ_ONCE(topology->runlist[i].channels);

		if (count && channels && channels != count)
			return 0;
		if (channels)
			count = channels;
	}
	return count;
}

static void put_channel_ids(struct seq_file *m, const struct nvdebug_gpu *gpu)
{
	u32 count = channel_count(gpu);
	const char *scope = "-";

	if (count)
		seq_printf(m, "channels: %u\n", count);
	else
		seq_puts(m, "channels: -\n");
	if (gpu->chip)
		scope = gpu->chip->channel->per_runlist ? "per-runlist" :
							  "global";
	seq_printf(m, "channel_ids: %s\n", scope);
}

static void put_runlists(struct seq_file *m, const struct nvdebug_gpu *gpu)
{
	const struct nvdebug_topology *topology = &gpu->topology;
	u32 i;

	seq_puts(m, "runlists:");
	for (i = 0; i < topology->runlists; i++)
		seq_printf(m, " %u", topology->runlist[i].id);
	if (!topology->runlists)
		seq_puts(m, " -");
	if (topology->counted_runlists)
		seq_puts(m, " (order of the table: DOORBELL_CONFIG unusable)");
	if (topology->nameless_runlists)
		seq_printf(m, " (and %u that do not tell their id)",
			   topology->nameless_runlists);
	seq_putc(m, '\n');
}

static void put_feature(struct seq_file *m, const char *name,
			const char *missing)
{
	if (missing)
		seq_printf(m, "feature %s: no (%s)\n", name, missing);
	else
		seq_printf(m, "feature %s: yes\n", name);
}

static void put_features(struct seq_file *m, const struct nvdebug_gpu *gpu,
			 const struct info_snapshot *s, int first, int end)
{
	int i;

	for (i = first; i < end; i++)
		put_feature(m, feature_names[i],
			    s->away ?: gpu->missing[i]);
}

static const char *window_missing(const struct nvdebug_gpu *gpu,
				  const struct info_snapshot *s)
{
	if (s->away)
		return s->away;
	if (!gpu->chip)
		return gpu->unsupported;
	return gpu->chip->window ? s->forbidden : "no video memory";
}

static void put_memory(struct seq_file *m, const struct nvdebug_gpu *gpu)
{
	seq_printf(m, "page_tables: %s\n", gpu->chip && gpu->chip->page_tables ?
		   gpu->chip->page_tables : "-");
	if (gpu->video_memory)
		seq_printf(m, "video_memory: %llu\n", gpu->video_memory);
	else
		seq_puts(m, "video_memory: -\n");
}

static void info_show(struct seq_file *m, struct nvdebug_gpu *gpu,
		      const struct nvdebug_snapshot *base, size_t record)
{
	const struct info_snapshot *s =
		container_of(base, struct info_snapshot, base);
	struct nvdebug_device *device = nvdebug_device(gpu);

	mutex_lock(&device->identity);
	seq_printf(m, "chip: %s\n", gpu->chip_name ?: "unknown");
	seq_printf(m, "chip_id: 0x%03x\n", gpu->id.chip);
	seq_printf(m, "generation: %s\n", gpu->generation ?: "-");
	if (device->identified)
		seq_printf(m, "revision: 0x%02x\n", gpu->id.revision);
	else
		seq_puts(m, "revision: -\n");
	put_lines(m, device, device->bus->show_pci,
		  "pci_address: -\npci_id: -\npci_subsystem: -\npci_class: -\n");
	put_bar_sizes(m, device);
	seq_printf(m, "driver: %s\n", s->driver);
	put_channel_ids(m, gpu);
	put_runlists(m, gpu);
	put_features(m, gpu, s, 0, AFTER_MEMORY);
	put_feature(m, "pram_window", window_missing(gpu, s));
	put_memory(m, gpu);
	put_features(m, gpu, s, AFTER_MEMORY, NVDEBUG_FEATURES);
	put_lines(m, device, device->bus->show_platform,
		  "platform_device: -\ncompatible: -\n");
	seq_printf(m, "mig: %s\n", nvdebug_mode_name(gpu->modes.mig));
	seq_printf(m, "confidential_computing: %s\n",
		   nvdebug_mode_name(gpu->modes.cc));
	mutex_unlock(&device->identity);
}

const struct nvdebug_view nvdebug_info_view = {
	.take = info_take,
	.show = info_show,
	.free = info_free,
};
