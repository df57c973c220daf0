// SPDX-License-Identifier: MIT OR GPL-2.0
#include "chips/chips.h"
#include "decode/context.h"
#include "decode/runlist.h"
#include "state/blocks.h"
#include "state/instances.h"
#include "state/intern.h"
#include "views/box.h"
#include "views/instance_show.h"

/* The settings for printing the boxes of a channel. */
struct instance_view {
	struct nvdebug_box box;
	const struct nvdebug_chip *chip;
	int indent;
	const struct nvdebug_entry *entry;
	u32 at;
	bool hide;
};

void nvdebug_block_claim(struct nvdebug_block *block, u32 at)
{
	if (!nvdebug_interned_claim(&block->base, at) || block->status)
		return;
	if (block->table)
		nvdebug_interned_claim(&block->table->base, at);
	if (block->pointer && !block->pointer->status)
		nvdebug_interned_claim(&block->pointer->image->base, at);
}

static bool is_here(const struct instance_view *v,
		    const struct nvdebug_interned *object)
{
	return object->first == v->at;
}

/* Return the id of the channel below which @object is printed. */
static u32 channel_of(const struct instance_view *v,
		      const struct nvdebug_interned *object)
{
	return v->entry[object->first].id;
}

static bool layout_has(const struct instance_view *v, u32 what)
{
	return v->chip->instance->has & what;
}

static void put_dir(const struct instance_view *v,
		    const struct nvdebug_page_dir *dir)
{
	nvdebug_box_wide_address(&v->box, "Page Directory", 10, dir->addr,
				 v->hide);
	nvdebug_box_line(&v->box, "Page Directory Aperture", "%s",
			 nvdebug_aperture_name(dir->aperture));
	nvdebug_box_flag(&v->box, "Page Directory Volatile", dir->is_volatile);
}

static void put_subcontext_of(const struct instance_view *v,
			      const struct nvdebug_instance *i)
{
	if (layout_has(v, NVDEBUG_INSTANCE_HAS_SUBCONTEXTS)) {
		nvdebug_box_line(&v->box, "VEID", "%u", i->veid);
		nvdebug_box_line(&v->box, "PASID", "%u", i->pasid);
		nvdebug_box_flag(&v->box, "ATS", i->ats);
	} else {
		nvdebug_box_line(&v->box, "VEID", "-");
		nvdebug_box_line(&v->box, "PASID", "-");
		nvdebug_box_line(&v->box, "ATS", "-");
	}
}

static void put_pointer(const struct instance_view *v,
			const struct nvdebug_instance *i)
{
	if (!i->wfi) {
		nvdebug_box_line(&v->box, "Engine WFI Pointer", "-");
		nvdebug_box_line(&v->box, "Engine WFI Aperture", "-");
		nvdebug_box_line(&v->box, "Engine WFI Mode", "-");
		return;
	}
	nvdebug_box_wide_address(&v->box, "Engine WFI Pointer", 14, i->wfi,
				 v->hide);
	nvdebug_box_line(&v->box, "Engine WFI Aperture", "%s",
			 nvdebug_aperture_name(i->wfi_aperture));
	nvdebug_box_line(&v->box, "Engine WFI Mode", "%s",
			 i->wfi_virtual ? "virtual" : "physical");
}

static void put_sharing(const struct instance_view *v,
			const struct nvdebug_block *block)
{
	const struct nvdebug_sc_table *table = block->table;
	const struct nvdebug_image *image;
	int status = nvdebug_block_image(block, &image);

	if (!layout_has(v, NVDEBUG_INSTANCE_HAS_SUBCONTEXTS))
		nvdebug_box_line(&v->box, "Subcontexts", "-");
	else if (!table || is_here(v, &table->base))
		nvdebug_box_line(&v->box, "Subcontexts", "%u",
				 table ? table->count : 0);
	else
		nvdebug_box_line(&v->box, "Subcontexts", "as Channel %u",
				 channel_of(v, &table->base));

	if (status)
		nvdebug_box_line(&v->box, "Context", "%s",
				 nvdebug_instance_status_name(status));
	else if (is_here(v, &image->base))
		nvdebug_box_line(&v->box, "Context", "below");
	else
		nvdebug_box_line(&v->box, "Context", "as Channel %u",
				 channel_of(v, &image->base));
}

static void put_instance(const struct instance_view *v,
			 const struct nvdebug_block *block)
{
	const struct nvdebug_instance *i = &block->instance;

	nvdebug_box_line(&v->box, "Page Tables", "%u", i->version);
	if (i->big_page_kib)
		nvdebug_box_line(&v->box, "Big Page Size (KiB)", "%u",
				 i->big_page_kib);
	else
		nvdebug_box_line(&v->box, "Big Page Size (KiB)", "-");
	put_dir(v, &i->dir);
	if (i->limit)
		nvdebug_box_wide_address(&v->box, "VA Limit", 10, i->limit,
					 v->hide);
	else
		nvdebug_box_line(&v->box, "VA Limit", "-");
	if (layout_has(v, NVDEBUG_INSTANCE_HAS_RAMFC)) {
		nvdebug_box_line(&v->box, "Target Engine", "%u",
				 i->target_engine);
		nvdebug_box_flag(&v->box, "Privileged", i->privileged);
	} else {
		nvdebug_box_line(&v->box, "Target Engine", "-");
		nvdebug_box_line(&v->box, "Privileged", "-");
	}
	put_subcontext_of(v, i);
	put_pointer(v, i);
	put_sharing(v, block);
}

static void show_subcontext(struct instance_view *v,
			    const struct nvdebug_subcontext *sc)
{
	nvdebug_box_open(&v->box, v->indent, 1, "Subcontext %u", sc->veid);
	put_dir(v, &sc->dir);
	nvdebug_box_line(&v->box, "PASID", "%u", sc->pasid);
	nvdebug_box_flag(&v->box, "ATS", sc->ats);
	nvdebug_box_close(&v->box);
}

static void put_enum_name(const struct instance_view *v, const char *key,
			  bool there, const char *name, u32 value)
{
	if (!there)
		nvdebug_box_line(&v->box, key, "-");
	else if (name)
		nvdebug_box_line(&v->box, key, "%s", name);
	else
		nvdebug_box_line(&v->box, key, "undefined-%u", value);
}

static void put_count(const struct instance_view *v, const char *key,
		      bool there, u32 count)
{
	if (there)
		nvdebug_box_line(&v->box, key, "%u", count);
	else
		nvdebug_box_line(&v->box, key, "-");
}

static void show_image(struct instance_view *v,
		       const struct nvdebug_image *image)
{
	const struct nvdebug_context_layout *layout = v->chip->context;
	const struct nvdebug_context *c = &image->context;
	bool modes = layout->has_preemption;

	nvdebug_box_open(&v->box, v->indent, 1, "Context");
	nvdebug_box_line(&v->box, "Context ID", "%u", c->id);
	put_enum_name(v, "Type", layout->has_type,
		      nvdebug_context_type_name(c->type), c->type);
	put_enum_name(v, "Graphics Preemption", modes,
		      nvdebug_graphics_preemption_name(c->graphics_preemption),
		      c->graphics_preemption);
	put_enum_name(v, "Compute Preemption", modes,
		      nvdebug_compute_preemption_name(c->compute_preemption),
		      c->compute_preemption);
	put_count(v, "Saves", true, c->saves);
	put_count(v, "Restores", true, c->restores);
	put_count(v, "WFI Saves", modes, c->wfi_saves);
	put_count(v, "CTA Saves", modes, c->cta_saves);
	put_count(v, "GFXP Saves", modes, c->gfxp_saves);
	put_count(v, "CILP Saves", modes, c->cilp_saves);
	if (image->has_va)
		nvdebug_box_wide_address(&v->box, "Image", 12, image->va,
					 v->hide);
	else
		nvdebug_box_line(&v->box, "Image", "-");
	nvdebug_box_wide_address(&v->box, "Image Address", 10, image->addr,
				 v->hide);
	nvdebug_box_line(&v->box, "Image Aperture", "%s",
			 nvdebug_aperture_name(image->aperture));
	nvdebug_box_close(&v->box);
}

/*
 * Print subcontexts and context, unless they are printed below another channel.
 */
static void show_below(struct instance_view *v,
		       const struct nvdebug_block *block)
{
	const struct nvdebug_sc_table *table = block->table;
	const struct nvdebug_image *image;
	u32 i;

	if (table && is_here(v, &table->base))
		for (i = 0; i < table->count; i++)
			show_subcontext(v, &table->entry[i]);
	if (!nvdebug_block_image(block, &image) && is_here(v, &image->base))
		show_image(v, image);
}

void nvdebug_block_show(struct seq_file *m, const struct nvdebug_chip *chip,
			const struct nvdebug_block *block, int indent,
			const struct nvdebug_entry *entry, u32 at, bool hide)
{
	struct instance_view v = {
		.box.m = m,
		.chip = chip,
		.indent = indent,
		.entry = entry,
		.at = at,
		.hide = hide,
	};
	bool whole = false;
	int status;

	nvdebug_box_open(&v.box, indent, 1, "Instance Block");
	if (!block) {
		status = NVDEBUG_INSTANCE_NOT_BOUND;
		nvdebug_box_line(&v.box, "Error", "%s",
				 nvdebug_instance_status_name(status));
	} else if (!is_here(&v, &block->base)) {
		nvdebug_box_line(&v.box, "Same as Channel", "%u",
				 channel_of(&v, &block->base));
	} else if (block->status) {
		nvdebug_box_line(&v.box, "Error", "%s",
				 nvdebug_instance_status_name(block->status));
	} else {
		put_instance(&v, block);
		whole = true;
	}
	nvdebug_box_close(&v.box);
	if (whole)
		show_below(&v, block);
}
