// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/kernel.h>
#include <linux/seq_file.h>

#include "chips/chips.h"
#include "core/gpu.h"
#include "probe/info.h"
#include "probe/modes.h"

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

/* Print the lines of this bus, or @none if the GPU is on another bus. */
static void put_lines(struct seq_file *m,
		      const struct nvdebug_attachment *attachment,
		      void (*show)(struct seq_file *m, const void *bus),
		      const char *none)
{
	if (show)
		show(m, attachment->bus);
	else
		seq_puts(m, none);
}

static void put_bar_sizes(struct seq_file *m, const u64 *bytes)
{
	int bar;

	for (bar = 0; bar < NVDEBUG_INFO_BARS; bar++) {
		if (bytes[bar])
			seq_printf(m, "bar%d_size: %llu\n", bar, bytes[bar]);
		else
			seq_printf(m, "bar%d_size: -\n", bar);
	}
}

/*
 * Return the number of channels of the GPU, or of each runlist if all have the
 * same number; 0: unknown.
 */
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
	if (topology->numbered_by_order)
		seq_puts(m, " (order of the table: DOORBELL_CONFIG unusable)");
	if (topology->runlists_without_id)
		seq_printf(m, " (and %u that do not tell their id)",
			   topology->runlists_without_id);
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
			 const char *away, int first, int end)
{
	int i;

	for (i = first; i < end; i++)
		put_feature(m, feature_names[i], away ?: gpu->missing[i]);
}

static const char *window_missing(const struct nvdebug_gpu *gpu,
				  const struct nvdebug_attachment *attachment)
{
	if (attachment->away)
		return attachment->away;
	if (!gpu->chip)
		return gpu->unsupported;
	return gpu->chip->window ? attachment->window : "no video memory";
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

void nvdebug_info_show(struct seq_file *m, const struct nvdebug_gpu *gpu,
		       const struct nvdebug_attachment *attachment)
{
	const char *away = attachment->away;

	seq_printf(m, "chip: %s\n", gpu->chip_name ?: "unknown");
	if (attachment->identified)
		seq_printf(m, "chip_id: 0x%03x\n", gpu->id.chip);
	else
		seq_puts(m, "chip_id: -\n");
	seq_printf(m, "generation: %s\n", gpu->generation ?: "-");
	if (attachment->identified)
		seq_printf(m, "revision: 0x%02x\n", gpu->id.revision);
	else
		seq_puts(m, "revision: -\n");
	put_lines(m, attachment, attachment->show_pci,
		  "pci_address: -\npci_id: -\npci_subsystem: -\npci_class: -\n");
	put_bar_sizes(m, attachment->bar_bytes);
	seq_printf(m, "driver: %s\n", attachment->driver);
	put_channel_ids(m, gpu);
	put_runlists(m, gpu);
	put_features(m, gpu, away, 0, AFTER_MEMORY);
	put_feature(m, "pram_window", window_missing(gpu, attachment));
	put_memory(m, gpu);
	put_features(m, gpu, away, AFTER_MEMORY, NVDEBUG_FEATURES);
	put_lines(m, attachment, attachment->show_platform,
		  "platform_device: -\ncompatible: -\n");
	seq_printf(m, "mig: %s\n", nvdebug_mode_name(READ_ONCE(gpu->modes.mig)));
	seq_printf(m, "confidential_computing: %s\n",
		   nvdebug_mode_name(READ_ONCE(gpu->modes.cc)));
}
