/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Page tables: a walk translates an address, a scan lists all mappings. Neither
 * reads memory: they name the entry that they need next, and the caller feeds
 * it.
 */
#ifndef NVDEBUG_DECODE_MMU_H
#define NVDEBUG_DECODE_MMU_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The most directory levels of a format, and the most entries that a walk
 * reads.
 */
#define NVDEBUG_MMU_DIRECTORIES	5
#define NVDEBUG_WALK_STEPS	(NVDEBUG_MMU_DIRECTORIES + 2)
/* 32-bit words of the largest entry. */
#define NVDEBUG_MMU_ENTRY_WORDS	4

/*
 * An aperture that entries have besides NV_APERTURE_*: memory of another GPU.
 */
#define NVDEBUG_APERTURE_PEER	1

struct nvdebug_mmu_coding;

struct nvdebug_mmu_level {
	const char *name;	/* NVIDIA's name, as PD3 or PT64K */
	u8 shift;		/* an entry covers 1 << shift bytes */
	u8 bits;		/* bits of the index */
	bool page;		/* entries of the directory may be pages */
};

/*
 * The levels of a format. The last directory is dual: its entries point to
 * a table of big pages and to one of small pages for the same addresses.
 */
struct nvdebug_mmu_format {
	u8 version;
	u8 va_bits;
	u8 directories;
	struct nvdebug_mmu_level directory[NVDEBUG_MMU_DIRECTORIES];
	struct nvdebug_mmu_level big;
	struct nvdebug_mmu_level small;
	const struct nvdebug_mmu_coding *coding;
};

extern const struct nvdebug_mmu_format nvdebug_mmu_gk104_64k;
extern const struct nvdebug_mmu_format nvdebug_mmu_gk104_128k;
/* Pascal and Volta. */
extern const struct nvdebug_mmu_format nvdebug_mmu_gp100;
/* Pascal with big pages of 128 KiB. */
extern const struct nvdebug_mmu_format nvdebug_mmu_gp100_128k;
/* GP10B and GV11B. */
extern const struct nvdebug_mmu_format nvdebug_mmu_gp10b;
/* GP10B with big pages of 128 KiB. */
extern const struct nvdebug_mmu_format nvdebug_mmu_gp10b_128k;
extern const struct nvdebug_mmu_format nvdebug_mmu_tu102;
/* Ampere and Ada. */
extern const struct nvdebug_mmu_format nvdebug_mmu_ga100;
extern const struct nvdebug_mmu_format nvdebug_mmu_gh100;
extern const struct nvdebug_mmu_format nvdebug_mmu_gb100;

/*
 * Return whether @va is in the range of the format. It may be sign-extended as
 * CPUs use it: then the extension is removed from *@va.
 */
bool nvdebug_mmu_va(const struct nvdebug_mmu_format *f, u64 *va);

enum nvdebug_mmu_meaning {
	NVDEBUG_MMU_INVALID,
	NVDEBUG_MMU_SPARSE,
	NVDEBUG_MMU_NO_SMALL,	/* invalid, and there are no small pages */
	NVDEBUG_MMU_TABLE,
	NVDEBUG_MMU_DUAL,	/* a big table, a small table or both */
	NVDEBUG_MMU_PAGE,
};

#define NVDEBUG_PAGE_PRIVILEGED	0x01
#define NVDEBUG_PAGE_READ_ONLY	0x02
#define NVDEBUG_PAGE_NO_ATOMICS	0x04
#define NVDEBUG_PAGE_VOLATILE	0x08
#define NVDEBUG_PAGE_COMPRESSED	0x10

struct nvdebug_mmu_table {
	u64 addr;
	u8 aperture;	/* NV_APERTURE_* */
	bool present;
};

/* A decoded entry. */
struct nvdebug_mmu_entry {
	u8 meaning;	/* enum nvdebug_mmu_meaning */
	/* Valid if the entry is a page. */
	u8 aperture;	/* NV_APERTURE_* or NVDEBUG_APERTURE_PEER */
	u8 flags;	/* NVDEBUG_PAGE_* */
	u8 kind;
	u8 peer;
	/* The tables of a dual entry cover 1 / (1 << reduced) of its range. */
	u8 reduced;
	u64 addr;
	struct nvdebug_mmu_table table;	/* the next directory, or the big table */
	struct nvdebug_mmu_table small;
};

/* An entry that a walk was fed. */
struct nvdebug_walk_step {
	const struct nvdebug_mmu_level *level;
	u32 index;
	u8 aperture;
	u8 words;
	u64 addr;
	u64 raw[2];	/* low, high; an entry of two words has no high */
	struct nvdebug_mmu_entry entry;
};

enum nvdebug_walk_state {
	NVDEBUG_WALK_GOING,		/* the walk wants another entry */
	NVDEBUG_WALK_MAPPED,
	NVDEBUG_WALK_PEER,		/* mapped, to memory of another GPU */
	NVDEBUG_WALK_INVALID,
	NVDEBUG_WALK_SPARSE,
	NVDEBUG_WALK_NO_SMALL,
	NVDEBUG_WALK_BAD_APERTURE,	/* aperture of the root */
	NVDEBUG_WALK_BAD_TABLE,		/* a table is outside of memory */
	NVDEBUG_WALK_OUT_OF_RANGE,	/* virtual address */
};

struct nvdebug_walk {
	const struct nvdebug_mmu_format *format;
	u64 va;
	u8 state;		/* enum nvdebug_walk_state */
	u8 steps;

	/* The result, if the state is MAPPED or PEER. */
	u8 aperture;		/* NV_APERTURE_* or NVDEBUG_APERTURE_PEER */
	u8 flags;		/* NVDEBUG_PAGE_* */
	u8 kind;
	u8 peer;
	u64 addr;		/* address of the byte at va */
	u64 page_size;

	struct nvdebug_walk_step step[NVDEBUG_WALK_STEPS];

	/* Private to the walk. */
	u64 video_memory;
	const struct nvdebug_mmu_level *level;	/* level of the wanted entry */
	struct nvdebug_mmu_table table;		/* table of the wanted entry */
	struct nvdebug_mmu_table small;		/* tried after the big table */
};

/* Start a walk. @va may be sign-extended. */
void nvdebug_walk_start(struct nvdebug_walk *w,
			const struct nvdebug_mmu_format *f, u64 pdb,
			u8 aperture, u64 va);
/*
 * Set limits right after the start: the size of video memory, which tables must
 * be in, and the address limit of the instance block (low 12 bits 0). 0: not
 * known.
 */
void nvdebug_walk_limit(struct nvdebug_walk *w, u64 video_memory, u64 va_limit);
/*
 * Get the next entry to read; returns false at the end. A walk wants at most
 * NVDEBUG_WALK_STEPS entries, whatever words it is fed.
 */
bool nvdebug_walk_wants(const struct nvdebug_walk *w, u64 *addr, u8 *aperture,
			u32 *words);
void nvdebug_walk_feed(struct nvdebug_walk *w, const u32 *words);

/* A mapped range. */
struct nvdebug_mmu_leaf {
	u64 va;
	u64 addr;
	u64 size;
	u8 aperture;	/* NV_APERTURE_* or NVDEBUG_APERTURE_PEER */
};

/*
 * A scan: all mappings below a limit, by rising virtual address. Tables outside
 * of memory count as empty.
 */
struct nvdebug_scan {
	const struct nvdebug_mmu_format *format;
	u64 va;			/* current position */
	u64 limit;		/* end of the scan */
	u64 video_memory;
	u32 budget;		/* entries that may still be read */

	/* Private to the scan. */
	const struct nvdebug_mmu_level *level;	/* level of the wanted entry */
	struct nvdebug_mmu_table directory[NVDEBUG_MMU_DIRECTORIES];
	struct nvdebug_mmu_table big;
	struct nvdebug_mmu_table small;
	u64 covered;		/* end of the range of big and small */
};

/*
 * Start a scan. @limit is its end; 0: the end of the format's range.
 * @video_memory: as for a walk. @budget is the number of entries to read; it
 * may be raised later to continue.
 */
void nvdebug_scan_start(struct nvdebug_scan *s,
			const struct nvdebug_mmu_format *f, u64 pdb,
			u8 aperture, u64 limit, u64 video_memory, u32 budget);
bool nvdebug_scan_at_end(const struct nvdebug_scan *s);
/* Get the next entry to read; returns false at the end or without budget. */
bool nvdebug_scan_wants(const struct nvdebug_scan *s, u64 *addr, u8 *aperture,
			u32 *words);
/* Feed an entry. Returns true, with *@leaf filled in, if it maps something. */
bool nvdebug_scan_feed(struct nvdebug_scan *s, const u32 *words,
		       struct nvdebug_mmu_leaf *leaf);
/*
 * Return how many adjacent entries from the wanted entry on are likely to be
 * wanted, for reading ahead.
 */
u32 nvdebug_scan_run(const struct nvdebug_scan *s);
/* Continue after the wanted table's range, because the table cannot be read. */
void nvdebug_scan_skip(struct nvdebug_scan *s);

#ifdef __cplusplus
}
#endif
#endif
