/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The encoding of entries of page tables. */
#ifndef NVDEBUG_DECODE_MMU_CODING_H
#define NVDEBUG_DECODE_MMU_CODING_H

#include <linux/types.h>

/* The table pointer in an entry, or in half of a dual one. */
struct nvdebug_mmu_pointer_coding {
	u64 aperture;		/* masks of the fields */
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
	u8 half_bits;		/* bits in half of a dual entry */
	u8 shift;		/* left shift of every address */
	/*
	 * The pointer in a directory's entry, and in the small half of a dual
	 * entry.
	 */
	struct nvdebug_mmu_pointer_coding table;
	struct nvdebug_mmu_pointer_coding big;
	u64 size;		/* field in the big half; 0: none */
	/* Marks an entry of a directory without a table as sparse. */
	struct nvdebug_mmu_bit_match sparse_table;
	/* Marks both halves of a dual entry without tables as sparse. */
	struct nvdebug_mmu_bit_match sparse_dual;

	u64 page_vid;
	u64 page_sys;
	u64 aperture;
	u64 peer;
	u64 kind;
	u64 privileged;
	u64 read_only;
	u64 no_atomics;		/* 0: no such bit */
	u64 uncached;
	u64 compressed;		/* field of video memory; 0: none */
	u8 compressed_first;	/* first kind of a range; 0: none */
	u8 compressed_last;
	/* Marks of an entry that is not valid. */
	struct nvdebug_mmu_bit_match sparse;
	struct nvdebug_mmu_bit_match no_small;
};

#endif
