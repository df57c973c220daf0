/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Context images of instance blocks.
 */
#ifndef NVDEBUG_CONTEXT_IMAGE_H
#define NVDEBUG_CONTEXT_IMAGE_H

#include <linux/compiler_attributes.h>

struct nvdebug_instances;
struct nvdebug_mem;

/*
 * Set the pointers of all blocks that were read, and read the images that they
 * lead to. Fails only with fatal errors.
 */
int __must_check nvdebug_context_images_read(struct nvdebug_instances *set,
					     struct nvdebug_mem *mem);

#endif
