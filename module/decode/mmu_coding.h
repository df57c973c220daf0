/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* How entries of page tables are encoded. */
#ifndef NVDEBUG_DECODE_MMU_CODING_H
#define NVDEBUG_DECODE_MMU_CODING_H

#include <linux/types.h>

/* The table pointer in an entry, or in half of a dual one. */
struct nvdebug_mmu_pointer_coding {
	u64 aperture;		/* masks */
	u64 vid;
	u64 sys;
};

/* A combination of bits. */
struct nvdebug_mmu_bit_match {
	u64 mask;
	u64 value;
};

/* The encoding of entries of one version. */
struct nvdebug_mmu_coding {
	u8 half_bits;		/* of a dual entry */
	u8 shift;		/* left shift of every address */
	/* a directory's, and the small half of a dual entry */
	struct nvdebug_mmu_pointer_coding table;
	struct nvdebug_mmu_pointer_coding big;
	u64 size;		/* in the big half; 0: none */
	/* in an entry without a table */
	struct nvdebug_mmu_bit_match sparse_table;
	/* in both halves of such an entry */
	struct nvdebug_mmu_bit_match sparse_dual;

	u64 page_vid;
	u64 page_sys;
	u64 aperture;
	u64 peer;
	u64 kind;
	u64 privileged;
	u64 read_only;
	u64 no_atomics;		/* 0: none */
	u64 uncached;
	u64 compressed;		/* of video memory; 0: none */
	u8 compressed_first;	/* range of kinds; 0: none */
	u8 compressed_last;
	/* in an entry that is not valid */
	struct nvdebug_mmu_bit_match sparse;
	struct nvdebug_mmu_bit_match no_small;
};

#endif
