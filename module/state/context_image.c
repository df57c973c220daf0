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
#include "state/word_requests.h"

/* Images and headers are aligned so that their words are in one page. */
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

/* The state of reading the image that a pointer leads to. */
struct context_read {
	struct nvdebug_context_pointer *pointer;
	const struct nvdebug_mmu_format *format;
	struct nvdebug_mmu_walk walk;
	bool has_va;
	u64 va;
	u64 addr;	/* address of the header or image */
	u8 aperture;
	bool has_ctl;	/* the first word of the image is known */
	struct nvdebug_image *image;	/* the image to be read */
	struct nvdebug_mem_request want[NVDEBUG_WORD_RANGES];
	u32 header[NVDEBUG_CONTEXT_POINTER_WORDS];
	u32 word[NVDEBUG_CONTEXT_WORDS];
};

/* The states of all pointers. */
struct context_reads {
	struct nvdebug_instances *set;
	struct nvdebug_mem *mem;
	struct context_read *read;
	struct context_read *end;
	struct list_head walks;
};

static void context_walk(struct context_reads *all, struct context_read *self,
			 u64 va)
{
	const struct pointer_key *key = self->pointer->base.key;

	self->has_va = true;
	self->va = va;
	nvdebug_mmu_walk_start(&self->walk, all->set->gpu, self->format,
			       key->dir, key->dir_aperture, 0, va);
	list_add_tail(&self->walk.node, &all->walks);
}

static int context_walk_done(struct context_read *self)
{
	const struct nvdebug_walk *walk = &self->walk.walk;

	if (self->walk.want.error)
		return self->walk.want.error;
	switch (walk->state) {
	case NVDEBUG_WALK_MAPPED:
		self->addr = walk->addr;
		self->aperture = walk->aperture;
		return 0;
	case NVDEBUG_WALK_PEER:
	case NVDEBUG_WALK_BAD_TABLE:
		return -EFAULT;
	default:
		return NVDEBUG_INSTANCE_NOT_MAPPED;
	}
}

static int contexts_walk(struct context_reads *all)
{
	struct context_read *self;
	int ret = nvdebug_mmu_walk_all(all->mem, &all->walks);

	if (ret)
		return ret;
	list_for_each_entry(self, &all->walks, walk.node)
		self->pointer->status = context_walk_done(self);
	INIT_LIST_HEAD(&all->walks);
	return 0;
}

/* Find out where the header or image of each pointer is. */
static int contexts_follow_pointers(struct context_reads *all)
{
	struct context_read *self = all->read;
	struct nvdebug_context_pointer *pointer;

	list_for_each_entry(pointer, &all->set->pointers.all, base.all) {
		const struct pointer_key *key = pointer->base.key;

		self->pointer = pointer;
		pointer->status = nvdebug_mmu_format(all->mem, key->version,
						     key->big_page_kib,
						     &self->format);
		if (pointer->status == -ENODEV)
			return -ENODEV;
		if (!pointer->status && key->is_virtual)
			context_walk(all, self, key->addr);
		self->addr = key->addr;
		self->aperture = key->aperture;
		self++;
	}
	return contexts_walk(all);
}

/*
 * Take the words of a header. They may be of an image, because the first word
 * of the header is the image's first word, too.
 */
static int context_got_header(struct context_reads *all,
			      struct context_read *self)
{
	int ret = nvdebug_ranges_error(self->want);
	u64 va;

	if (ret)
		return ret;
	self->has_ctl = !nvdebug_context_pointer_decode(all->set->gpu->chip->context,
							self->header, &va);
	if (self->has_ctl)
		return 0;
	if (va & (HEADER_ALIGN - 1))
		return NVDEBUG_INSTANCE_BAD_MAGIC;
	context_walk(all, self, va);
	return 0;
}

static int contexts_follow_headers(struct context_reads *all)
{
	struct context_read *self;
	LIST_HEAD(wanted);
	int ret;

	for (self = all->read; self < all->end; self++)
		if (!self->pointer->status)
			nvdebug_ranges_request(self->want, self->addr,
					       self->aperture,
					       &nvdebug_context_pointer_ranges,
					       self->header, &wanted);
	ret = nvdebug_mem_read_all(all->mem, &wanted);
	if (ret)
		return ret;
	for (self = all->read; self < all->end; self++)
		if (!self->pointer->status)
			self->pointer->status = context_got_header(all, self);
	return contexts_walk(all);
}

/* Request the image at self->addr, unless another pointer leads there, too. */
static int context_want_image(struct context_reads *all,
			      struct context_read *self,
			      struct list_head *wanted)
{
	struct image_key key = { self->addr, self->aperture };
	struct nvdebug_intern *images = &all->set->images;
	u32 known = images->count;
	struct nvdebug_image *image;

	image = nvdebug_intern(images, sizeof(*image), &key, sizeof(key));
	if (!image)
		return -ENOMEM;
	self->pointer->image = image;
	if (images->count == known)
		return 0;
	image->has_va = self->has_va;
	image->va = self->va;
	image->addr = self->addr;
	image->aperture = self->aperture;
	self->image = image;
	nvdebug_ranges_request(self->want, self->addr, self->aperture,
			       &all->set->gpu->chip->context->ranges,
			       self->word, wanted);
	if (self->has_ctl) {
		self->word[0] = self->header[0];
		list_del(&self->want[0].node);
	}
	return 0;
}

static int image_decode(struct context_reads *all, struct context_read *self)
{
	const struct nvdebug_context_layout *layout = all->set->gpu->chip->context;
	int ret = nvdebug_ranges_error(self->want);

	if (!ret)
		ret = nvdebug_context_decode(layout, self->word,
					     nvdebug_ranges_words(&layout->ranges),
					     &self->image->context);
	return ret == -EBADMSG ? NVDEBUG_INSTANCE_BAD_MAGIC : ret;
}

static int contexts_read_images(struct context_reads *all)
{
	struct context_read *self;
	LIST_HEAD(wanted);
	int ret = 0;

	for (self = all->read; self < all->end; self++) {
		if (!self->pointer->status)
			ret = context_want_image(all, self, &wanted);
		if (ret)
			return ret;
	}
	ret = nvdebug_mem_read_all(all->mem, &wanted);
	if (ret)
		return ret;
	for (self = all->read; self < all->end; self++)
		if (self->image)
			self->image->status = image_decode(all, self);
	return 0;
}

/* Set the pointer of @block, if it has one. */
static int block_set_pointer(struct nvdebug_instances *set,
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

	if (!instance->wfi) {
		block->no_context = NVDEBUG_INSTANCE_NO_CONTEXT;
		return 0;
	}
	block->pointer = nvdebug_intern(&set->pointers,
					sizeof(*block->pointer), &key,
					sizeof(key));
	return block->pointer ? 0 : -ENOMEM;
}

int nvdebug_context_images_read(struct nvdebug_instances *set,
				struct nvdebug_mem *mem)
{
	struct context_reads all = { .set = set, .mem = mem };
	struct nvdebug_block *block;
	int ret = 0;

	INIT_LIST_HEAD(&all.walks);
	list_for_each_entry(block, &set->blocks.all, base.all) {
		if (!block->status)
			ret = block_set_pointer(set, block);
		if (ret)
			return ret;
	}
	all.read = kvcalloc(set->pointers.count, sizeof(*all.read),
			    GFP_KERNEL_ACCOUNT);
	if (!all.read)
		return -ENOMEM;
	all.end = all.read + set->pointers.count;
	ret = contexts_follow_pointers(&all);
	if (!ret && set->gpu->chip->context->has_type)
		ret = contexts_follow_headers(&all);
	if (!ret)
		ret = contexts_read_images(&all);
	kvfree(all.read);
	return ret;
}
