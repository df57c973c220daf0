// SPDX-License-Identifier: MIT OR GPL-2.0
#include "chips/chips.h"
#include "core/gpu.h"
#include "decode/channel.h"
#include "decode/runlist.h"
#include "hw/pfifo.h"
#include "hw/ram.h"
#include "hw/runlist.h"
#include "state/channel.h"
#include "views/box.h"

/* The state of a channel: PCCSR, Kepler to Turing. */

u32 nvdebug_channel_reg_gk104(const struct nvdebug_runlist *runlist, u32 id)
{
	return NV_PCCSR_CHANNEL(id);
}

int nvdebug_channel_read_inst_gk104(struct nvdebug_gpu *gpu, u32 id,
				    struct nvdebug_channel *channel)
{
	return nvdebug_reg_read(gpu, NV_PCCSR_CHANNEL_INST(id), &channel->inst);
}

void nvdebug_channel_place_gk104(const struct nvdebug_channel *channel,
				 const struct nvdebug_entry *entry,
				 struct nvdebug_instance_place *place)
{
	nvdebug_pccsr_inst_decode(channel->inst, place);
}

int nvdebug_channel_read_gk104(struct nvdebug_gpu *gpu,
			       const struct nvdebug_runlist *runlist, u32 id,
			       struct nvdebug_channel *channel)
{
	int ret = nvdebug_reg_read(gpu, NV_PCCSR_CHANNEL(id), &channel->state);

	if (ret)
		return ret;
	return nvdebug_channel_read_inst_gk104(gpu, id, channel);
}

void nvdebug_channel_show_entry_gk104(const struct nvdebug_box *box,
				      const struct nvdebug_chip *chip,
				      const struct nvdebug_entry *entry,
				      bool hide)
{
	if (chip->runlist->has_runqueue)
		nvdebug_box_line(box, "Runqueue", "%u", entry->runqueue);
	else
		nvdebug_box_line(box, "Runqueue", "-");
}

void nvdebug_channel_show_gk104(const struct nvdebug_box *box,
				const struct nvdebug_chip *chip,
				const struct nvdebug_channel *channel,
				const struct nvdebug_entry *entry, bool hide)
{
	struct nvdebug_instance_place inst;
	struct nvdebug_pccsr c;

	nvdebug_pccsr_decode(channel->state, &c);
	nvdebug_pccsr_inst_decode(channel->inst, &inst);

	nvdebug_box_flag(box, "Enabled", c.enabled);
	nvdebug_box_flag(box, "Next", c.next);
	nvdebug_box_flag(box, "Force CTX Reload", c.force_ctx_reload);
	nvdebug_box_flag(box, "Enable set", c.enable_set);
	nvdebug_box_flag(box, "Enable clear", c.enable_clear);
	if (chip->channel->has_faults) {
		nvdebug_box_flag(box, "PBDMA Faulted", c.pbdma_faulted);
		nvdebug_box_flag(box, "ENG Faulted", c.eng_faulted);
	} else {
		nvdebug_box_line(box, "PBDMA Faulted", "-");
		nvdebug_box_line(box, "ENG Faulted", "-");
	}
	nvdebug_box_line(box, "Status", "%u", c.status);
	nvdebug_box_flag(box, "Busy", c.busy);
	nvdebug_box_line(box, "Status Name", "%s",
			 nvdebug_channel_status_name(c.status));
	nvdebug_box_flag(box, "Bound", inst.bound);
	nvdebug_channel_show_entry_gk104(box, chip, entry, hide);
	nvdebug_box_address(box, "Instance Block", inst.addr, hide);
	nvdebug_box_line(box, "Instance Aperture", "%s",
			 nvdebug_aperture_name(inst.aperture));
}

/* The state of a channel: channel RAM, Ampere and newer. */

u32 nvdebug_channel_reg_ga100(const struct nvdebug_runlist *runlist, u32 id)
{
	return runlist->chram + NV_CHRAM_CHANNEL(id);
}

void nvdebug_channel_place_ga100(const struct nvdebug_channel *channel,
				 const struct nvdebug_entry *entry,
				 struct nvdebug_instance_place *place)
{
	place->addr = entry->inst;
	place->aperture = entry->inst_aperture;
	/* as the hardware does (GA100 manual, dev_ram.ref.txt) */
	if (place->aperture == NV_APERTURE_INVALID)
		place->aperture = NV_APERTURE_VID;
	/* nothing says so: but nobody puts one at the start of memory */
	place->bound = place->addr;
}

int nvdebug_channel_read_ga100(struct nvdebug_gpu *gpu,
			       const struct nvdebug_runlist *runlist, u32 id,
			       struct nvdebug_channel *channel)
{
	return nvdebug_reg_read(gpu, nvdebug_channel_reg_ga100(runlist, id),
				&channel->state);
}

void nvdebug_channel_show_entry_ga100(const struct nvdebug_box *box,
				      const struct nvdebug_chip *chip,
				      const struct nvdebug_entry *entry,
				      bool hide)
{
	nvdebug_box_line(box, "Runqueue", "%u", entry->runqueue);
	nvdebug_box_address(box, "Instance Block", entry->inst, hide);
	nvdebug_box_line(box, "Instance Aperture", "%s",
			 nvdebug_aperture_name(entry->inst_aperture));
}

void nvdebug_channel_show_ga100(const struct nvdebug_box *box,
				const struct nvdebug_chip *chip,
				const struct nvdebug_channel *channel,
				const struct nvdebug_entry *entry, bool hide)
{
	struct nvdebug_chram c;

	nvdebug_chram_decode(channel->state, &c);
	nvdebug_box_flag(box, "Enabled", c.enabled);
	nvdebug_box_flag(box, "Next", c.next);
	nvdebug_box_flag(box, "Busy", c.busy);
	nvdebug_box_flag(box, "PBDMA Faulted", c.pbdma_faulted);
	nvdebug_box_flag(box, "ENG Faulted", c.eng_faulted);
	nvdebug_box_flag(box, "On PBDMA", c.on_pbdma);
	nvdebug_box_flag(box, "On ENG", c.on_eng);
	nvdebug_box_flag(box, "Pending", c.pending);
	nvdebug_box_flag(box, "CTX Reload", c.ctx_reload);
	nvdebug_box_flag(box, "PBDMA Busy", c.pbdma_busy);
	nvdebug_box_flag(box, "ENG Busy", c.eng_busy);
	nvdebug_box_flag(box, "Acquire Fail", c.acquire_fail);
	nvdebug_box_line(box, "Status Name", "%s",
			 nvdebug_channel_status_name(c.status));
	nvdebug_channel_show_entry_ga100(box, chip, entry, hide);
}
