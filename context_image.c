// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * From instance blocks to context images: the engine context pointer, through
 * the channel's page tables, leads to the image itself, or from Volta on to a
 * header of the channel's subcontext, which has the virtual address of the
 * image.
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "chips/chips.h"
#include "gpu.h"
#include "hw/ctxsw.h"
#include "instances.h"
#include "memory.h"
#include "mmu.h"
#include "run_reader.h"

/* What an image or a header needs, so that its words lie in one page. */
#define HEADER_ALIGN	(NV_CTXSW_MAIN_IMAGE_WORDS * sizeof(u32))

struct pointer_key {
	u64 dir;
	u64 addr;
	u8 dir_aperture;
	u8 aperture;
	u8 is_virtual;
	u8 version;
	u8 big_page_kib;
	u8 zero[3];
};

struct image_key {
	u64 addr;
	u64 aperture;
};

/* A pointer that is being followed. */
struct pointer_fetch {
	struct nvdebug_fetch fetch;
	bool (*next)(struct pointer_fetch *self);
	struct nvdebug_instances *set;
	struct nvdebug_context_pointer *pointer;
	const struct nvdebug_mmu_format *format;
	struct nvdebug_mmu_walk walk;
	bool has_va;
	u64 va;
	bool followed;	/* a header was, so this is the image */
	struct nvdebug_run_reader reader;
	u32 word[NVDEBUG_CONTEXT_POINTER_WORDS];
};

/* An image that is being read. */
struct image_fetch {
	struct nvdebug_fetch fetch;
	const struct nvdebug_context_layout *layout;
	struct nvdebug_image *image;
	struct nvdebug_run_reader reader;
	u32 word[NVDEBUG_CONTEXT_WORDS];
};

static const struct pointer_key *key_of(const struct pointer_fetch *self)
{
	return self->pointer->base.key;
}

static bool fail(struct pointer_fetch *self, int error)
{
	self->pointer->error = error;
	return false;
}

static bool found_image(struct pointer_fetch *self, u64 addr, u8 aperture,
			const u32 *ctl)
{
	struct image_key key = { addr, aperture };
	struct nvdebug_image *image;

	image = nvdebug_intern(&self->set->images, sizeof(*image), &key,
			       sizeof(key));
	if (!image) {
		self->set->error = -ENOMEM;
		return fail(self, -ENOMEM);
	}
	if (!image->has_va) {
		image->has_va = self->has_va;
		image->va = self->va;
	}
	image->addr = addr;
	image->aperture = aperture;
	if (ctl) {
		image->has_ctl = true;
		image->ctl = *ctl;
	}
	self->pointer->image = image;
	return false;
}

static bool walk_to(struct pointer_fetch *self, u64 va);

static bool got_header_run(struct pointer_fetch *self)
{
	u64 va;

	if (nvdebug_run_next(&self->reader, &self->fetch.want))
		return true;
	if (!nvdebug_context_pointer_decode(self->word, &va))
		return found_image(self, self->reader.addr,
				   self->reader.aperture, self->word);
	if (va & (HEADER_ALIGN - 1))
		return fail(self, -ENOEXEC);
	self->followed = true;
	return walk_to(self, va);
}

/* It lies here: the image, or what may be a header. */
static bool located(struct pointer_fetch *self, u64 addr, u8 aperture)
{
	if (self->followed || !self->set->gpu->chip->context->has_type)
		return found_image(self, addr, aperture, NULL);

	self->reader.runs = &nvdebug_context_pointer_runs;
	self->reader.addr = addr;
	self->reader.aperture = aperture;
	self->reader.word = self->word;
	self->next = got_header_run;
	return nvdebug_run_next(&self->reader, &self->fetch.want);
}

static bool walked(struct pointer_fetch *self)
{
	const struct nvdebug_walk *walk = &self->walk.walk;

	switch (walk->state) {
	case NVDEBUG_WALK_MAPPED:
		return located(self, walk->addr, walk->aperture);
	case NVDEBUG_WALK_PEER:
	case NVDEBUG_WALK_BAD_TABLE:
		return fail(self, -EFAULT);
	default:
		return fail(self, -ENXIO);
	}
}

static bool got_entry(struct pointer_fetch *self)
{
	return nvdebug_mmu_walk_step(&self->walk, &self->fetch.want) ||
	       walked(self);
}

static bool walk_to(struct pointer_fetch *self, u64 va)
{
	const struct pointer_key *key = key_of(self);

	self->has_va = true;
	self->va = va;
	self->next = got_entry;
	return nvdebug_mmu_walk_start(&self->walk, self->set->gpu, self->format,
				      key->dir, key->dir_aperture, 0, va,
				      &self->fetch.want) ||
	       walked(self);
}

static bool start(struct pointer_fetch *self, struct nvdebug_mem *mem)
{
	const struct pointer_key *key = key_of(self);
	int ret;

	ret = nvdebug_mmu_format(mem, key->version, key->big_page_kib,
				 &self->format);
	if (ret == -ENODEV)
		self->set->error = ret;
	if (ret)
		return fail(self, ret);
	return key->is_virtual ? walk_to(self, key->addr) :
				 located(self, key->addr, key->aperture);
}

static bool pointer_step(struct nvdebug_fetch *fetch, int error)
{
	struct pointer_fetch *self =
		container_of(fetch, struct pointer_fetch, fetch);

	return error ? fail(self, error) : self->next(self);
}

static int follow_pointers(struct nvdebug_instances *set,
			   struct nvdebug_mem *mem)
{
	struct nvdebug_context_pointer *pointer;
	struct pointer_fetch *fetch;
	LIST_HEAD(fetches);
	u32 i = 0;
	int ret;

	fetch = kvcalloc(set->pointers.count, sizeof(*fetch),
			 GFP_KERNEL_ACCOUNT);
	if (!fetch)
		return -ENOMEM;
	list_for_each_entry(pointer, &set->pointers.all, base.all) {
		fetch[i].fetch.step = pointer_step;
		fetch[i].set = set;
		fetch[i].pointer = pointer;
		if (start(&fetch[i], mem))
			list_add_tail(&fetch[i].fetch.node, &fetches);
		i++;
	}
	ret = nvdebug_mem_fetch(mem, &fetches);
	kvfree(fetch);
	return ret ? ret : set->error;
}

static bool image_step(struct nvdebug_fetch *fetch, int error)
{
	struct image_fetch *self =
		container_of(fetch, struct image_fetch, fetch);

	if (!error && nvdebug_run_next(&self->reader, &self->fetch.want))
		return true;
	if (!error)
		error = nvdebug_context_decode(self->layout, self->word,
					       self->reader.words,
					       &self->image->context);
	self->image->error = error;
	return false;
}

static int read_images(struct nvdebug_instances *set, struct nvdebug_mem *mem)
{
	const struct nvdebug_context_layout *layout = set->gpu->chip->context;
	struct nvdebug_image *image;
	struct image_fetch *fetch;
	LIST_HEAD(fetches);
	u32 i = 0;
	int ret;

	fetch = kvcalloc(set->images.count, sizeof(*fetch), GFP_KERNEL_ACCOUNT);
	if (!fetch)
		return -ENOMEM;
	list_for_each_entry(image, &set->images.all, base.all) {
		struct image_fetch *self = &fetch[i++];

		self->fetch.step = image_step;
		self->layout = layout;
		self->image = image;
		self->reader.runs = &layout->runs;
		self->reader.addr = image->addr;
		self->reader.aperture = image->aperture;
		self->reader.word = self->word;
		/* where that can be, it is the first run */
		if (image->has_ctl) {
			self->word[self->reader.words++] = image->ctl;
			self->reader.run++;
		}
		nvdebug_run_next(&self->reader, &self->fetch.want);
		list_add_tail(&self->fetch.node, &fetches);
	}
	ret = nvdebug_mem_fetch(mem, &fetches);
	kvfree(fetch);
	return ret;
}

static int add_pointer(struct nvdebug_instances *set,
		       struct nvdebug_block *block)
{
	const struct nvdebug_page_dir *dir = nvdebug_block_compute_dir(block);
	const struct nvdebug_instance *instance = &block->instance;
	struct pointer_key key = {
		.dir = dir->addr,
		.addr = instance->wfi,
		.dir_aperture = dir->aperture,
		.aperture = instance->wfi_aperture,
		.is_virtual = instance->wfi_virtual,
		.version = instance->version,
		.big_page_kib = instance->big_page_kib,
	};

	if (block->error)
		return 0;
	if (!instance->wfi) {
		block->no_context = -ENOENT;
		return 0;
	}
	block->pointer = nvdebug_intern(&set->pointers, sizeof(*block->pointer),
					&key, sizeof(key));
	return block->pointer ? 0 : -ENOMEM;
}

int nvdebug_instances_read_images(struct nvdebug_instances *set,
				  struct nvdebug_mem *mem)
{
	struct nvdebug_block *block;
	int ret;

	list_for_each_entry(block, &set->blocks.all, base.all) {
		ret = add_pointer(set, block);
		if (ret)
			return ret;
	}
	ret = follow_pointers(set, mem);
	return ret ? ret : read_images(set, mem);
}
