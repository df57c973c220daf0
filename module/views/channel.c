// SPDX-License-Identifier: MIT OR GPL-2.0
#include "chips/chips.h"
#include "core/gpu.h"
#include "decode/channel.h"
#include "decode/runlist.h"
#include "views/box.h"
#include "views/channel.h"

/* The state of a channel: PCCSR, Kepler to Turing. */

static void show_entry_pccsr(const struct nvdebug_box *box,
			     const struct nvdebug_chip *chip,
			     const struct nvdebug_entry *entry,
			     bool hide)
{
	if (chip->runlist->has_runqueue)
		nvdebug_box_line(box, "Runqueue", "%u", entry->runqueue);
	else
		nvdebug_box_line(box, "Runqueue", "-");
}

static void show_pccsr(const struct nvdebug_box *box,
		       const struct nvdebug_chip *chip, u32 state,
		       const struct nvdebug_instance_place *inst,
		       const struct nvdebug_entry *entry, bool hide)
{
	struct nvdebug_pccsr c;

	nvdebug_pccsr_decode(state, &c);

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
	nvdebug_box_flag(box, "Bound", inst->bound);
	show_entry_pccsr(box, chip, entry, hide);
	nvdebug_box_address(box, "Instance Block", inst->addr, hide);
	nvdebug_box_line(box, "Instance Aperture", "%s",
			 nvdebug_aperture_name(inst->aperture));
}

/* The state of a channel: channel RAM, Ampere and newer. */

static void show_entry_chram(const struct nvdebug_box *box,
			     const struct nvdebug_chip *chip,
			     const struct nvdebug_entry *entry,
			     bool hide)
{
	nvdebug_box_line(box, "Runqueue", "%u", entry->runqueue);
	nvdebug_box_address(box, "Instance Block", entry->inst, hide);
	nvdebug_box_line(box, "Instance Aperture", "%s",
			 nvdebug_aperture_name(entry->inst_aperture));
}

static void show_chram(const struct nvdebug_box *box,
		       const struct nvdebug_chip *chip, u32 state,
		       const struct nvdebug_instance_place *inst,
		       const struct nvdebug_entry *entry, bool hide)
{
	struct nvdebug_chram c;

	nvdebug_chram_decode(state, &c);
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
	show_entry_chram(box, chip, entry, hide);
}

static const struct {
	void (*show)(const struct nvdebug_box *box,
		     const struct nvdebug_chip *chip, u32 state,
		     const struct nvdebug_instance_place *inst,
		     const struct nvdebug_entry *entry, bool hide);
	void (*show_entry)(const struct nvdebug_box *box,
			   const struct nvdebug_chip *chip,
			   const struct nvdebug_entry *entry, bool hide);
} forms[] = {
	[NVDEBUG_CHANNEL_PCCSR] = { show_pccsr, show_entry_pccsr },
	[NVDEBUG_CHANNEL_CHRAM] = { show_chram, show_entry_chram },
};

void nvdebug_channel_show(const struct nvdebug_box *box,
			  const struct nvdebug_chip *chip, u32 state,
			  const struct nvdebug_instance_place *inst,
			  const struct nvdebug_entry *entry, bool hide)
{
	forms[chip->channel->form].show(box, chip, state, inst, entry, hide);
}

void nvdebug_channel_show_entry(const struct nvdebug_box *box,
				const struct nvdebug_chip *chip,
				const struct nvdebug_entry *entry, bool hide)
{
	forms[chip->channel->form].show_entry(box, chip, entry, hide);
}
