// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * The engine context pointer of an instance block, translated by the channel's
 * page tables, points to the context image, or from Volta on to a
 * per-subcontext header with the virtual address of the image.
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "chips/chips.h"
#include "core/gpu.h"
#include "core/machine.h"
#include "decode/context.h"
#include "hw/ctxsw.h"
#include "mmu.h"
#include "state/context_image.h"
#include "state/blocks.h"
#include "state/intern.h"
#include "state/run_reader.h"

/* Alignment of an image or a header: its words are in one page. */
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

/* The fetch of a pointer's image. */
struct nvdebug_context_fetch {
	struct nvdebug_mem_request *want;
	bool (*next)(struct nvdebug_context_fetch *self);
	struct nvdebug_instances *set;
	struct nvdebug_context_pointer *pointer;
	const struct nvdebug_mmu_format *format;
	struct nvdebug_mmu_walk walk;
	bool has_va;
	u64 va;
	bool followed;	/* a header was: the next is the image */
	struct nvdebug_run_reader reader;
	u32 header[NVDEBUG_CONTEXT_POINTER_WORDS];
	u32 word[NVDEBUG_CONTEXT_WORDS];
};

static const struct pointer_key *
context_fetch_key(const struct nvdebug_context_fetch *self)
{
	return self->pointer->base.key;
}

/* Set the status of the image if it is known, else of the pointer. */
static bool context_fetch_fail(struct nvdebug_context_fetch *self, int status)
{
	if (self->pointer->image)
		self->pointer->image->status = status;
	else
		self->pointer->status = status;
	return false;
}

static bool context_fetch_abort(struct nvdebug_context_fetch *self, int error)
{
	self->set->error = error;
	return context_fetch_fail(self, error);
}

static bool context_fetch_got_image(struct nvdebug_context_fetch *self)
{
	struct nvdebug_image *image = self->pointer->image;
	int ret;

	if (nvdebug_run_next(&self->reader, self->want))
		return true;
	ret = nvdebug_context_decode(self->set->gpu->chip->context, self->word,
				     self->reader.words, &image->context);
	image->status = ret == -EBADMSG ? NVDEBUG_INSTANCE_BAD_MAGIC : ret;
	return false;
}

/* Read an image, unless it was read before. @ctl: its first run, or NULL. */
static bool context_fetch_add_image(struct nvdebug_context_fetch *self,
				    u64 addr, u8 aperture, const u32 *ctl)
{
	u32 known = self->set->images.count;
	struct image_key key = { addr, aperture };
	struct nvdebug_image *image;

	image = nvdebug_intern(&self->set->images, sizeof(*image), &key,
			       sizeof(key));
	if (!image)
		return context_fetch_abort(self, -ENOMEM);
	self->pointer->image = image;
	if (self->set->images.count == known)
		return false;

	image->has_va = self->has_va;
	image->va = self->va;
	image->addr = addr;
	image->aperture = aperture;
	self->reader = (struct nvdebug_run_reader) {
		.runs = &self->set->gpu->chip->context->runs,
		.addr = addr,
		.aperture = aperture,
		.word = self->word,
	};
	if (ctl) {
		self->word[self->reader.words++] = *ctl;
		self->reader.run++;
	}
	self->next = context_fetch_got_image;
	return nvdebug_run_next(&self->reader, self->want);
}

static bool context_fetch_walk(struct nvdebug_context_fetch *self, u64 va);

static bool context_fetch_got_header(struct nvdebug_context_fetch *self)
{
	u64 va;

	if (nvdebug_run_next(&self->reader, self->want))
		return true;
	if (!nvdebug_context_pointer_decode(self->set->gpu->chip->context,
					    self->header, &va))
		return context_fetch_add_image(self, self->reader.addr,
					       self->reader.aperture,
					       self->header);
	if (va & (HEADER_ALIGN - 1))
		return context_fetch_fail(self, NVDEBUG_INSTANCE_BAD_MAGIC);
	self->followed = true;
	return context_fetch_walk(self, va);
}

/* Read the image, or what may be a header, at @addr. */
static bool context_fetch_read_at(struct nvdebug_context_fetch *self, u64 addr,
				  u8 aperture)
{
	if (self->followed || !self->set->gpu->chip->context->has_type)
		return context_fetch_add_image(self, addr, aperture, NULL);

	self->reader = (struct nvdebug_run_reader) {
		.runs = &nvdebug_context_pointer_runs,
		.addr = addr,
		.aperture = aperture,
		.word = self->header,
	};
	self->next = context_fetch_got_header;
	return nvdebug_run_next(&self->reader, self->want);
}

static bool context_fetch_walk_done(struct nvdebug_context_fetch *self)
{
	const struct nvdebug_walk *walk = &self->walk.walk;

	switch (walk->state) {
	case NVDEBUG_WALK_MAPPED:
		return context_fetch_read_at(self, walk->addr, walk->aperture);
	case NVDEBUG_WALK_PEER:
	case NVDEBUG_WALK_BAD_TABLE:
		return context_fetch_fail(self, -EFAULT);
	default:
		return context_fetch_fail(self, NVDEBUG_INSTANCE_NOT_MAPPED);
	}
}

static bool context_fetch_got_entry(struct nvdebug_context_fetch *self)
{
	return nvdebug_mmu_walk_step(&self->walk, self->want) ||
	       context_fetch_walk_done(self);
}

static bool context_fetch_walk(struct nvdebug_context_fetch *self, u64 va)
{
	const struct pointer_key *key = context_fetch_key(self);

	self->has_va = true;
	self->va = va;
	self->next = context_fetch_got_entry;
	return nvdebug_mmu_walk_start(&self->walk, self->set->gpu, self->format,
				      key->dir, key->dir_aperture, 0, va,
				      self->want) ||
	       context_fetch_walk_done(self);
}

static bool context_fetch_start(struct nvdebug_context_fetch *self,
				struct nvdebug_mem *mem)
{
	const struct pointer_key *key = context_fetch_key(self);
	int ret;

	ret = nvdebug_mmu_format(mem, key->version, key->big_page_kib,
				 &self->format);
	if (ret)
		return ret == -ENODEV ? context_fetch_abort(self, ret) :
					context_fetch_fail(self, ret);
	if (key->is_virtual)
		return context_fetch_walk(self, key->addr);
	return context_fetch_read_at(self, key->addr, key->aperture);
}

/* The pointer of @block. NULL if there is none, or out of memory. */
static struct nvdebug_context_pointer *
block_context_pointer(struct nvdebug_instances *set,
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
	struct nvdebug_context_pointer *pointer;

	if (!instance->wfi) {
		block->no_context = NVDEBUG_INSTANCE_NO_CONTEXT;
		return NULL;
	}
	pointer = nvdebug_intern(&set->pointers, sizeof(*pointer), &key,
				 sizeof(key));
	if (!pointer)
		set->error = -ENOMEM;
	return pointer;
}

struct nvdebug_context_fetch *
nvdebug_context_begin(struct nvdebug_instances *set, struct nvdebug_mem *mem,
		      struct nvdebug_block *block,
		      struct nvdebug_mem_request *want)
{
	u32 known = set->pointers.count;
	struct nvdebug_context_fetch *self;

	block->pointer = block_context_pointer(set, block);
	if (!block->pointer || set->pointers.count == known)
		return NULL;
	self = kzalloc(sizeof(*self), GFP_KERNEL_ACCOUNT);
	if (!self) {
		set->error = -ENOMEM;
		return NULL;
	}
	self->want = want;
	self->set = set;
	self->pointer = block->pointer;
	if (context_fetch_start(self, mem))
		return self;
	kfree(self);
	return NULL;
}

bool nvdebug_context_step(struct nvdebug_context_fetch *self, int error)
{
	return error ? context_fetch_fail(self, error) : self->next(self);
}
