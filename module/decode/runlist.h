/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* Decodes the location and the entries of runlists. */
#ifndef NVDEBUG_DECODE_RUNLIST_H
#define NVDEBUG_DECODE_RUNLIST_H

#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Words of the largest entry. */
#define NVDEBUG_ENTRY_WORDS	4

struct nvdebug_runlist_location {
	u64 addr;
	u32 entries;
	u8 aperture;	/* NV_APERTURE_*, or an undefined value */
	bool pending;	/* submitted, not yet taken by Host */
};

enum nvdebug_entry_kind {
	NVDEBUG_ENTRY_UNKNOWN,
	NVDEBUG_ENTRY_TSG,
	NVDEBUG_ENTRY_CHANNEL,
};

struct nvdebug_entry {
	u8 kind;		/* enum nvdebug_entry_kind */
	u8 scale;		/* TSG */
	u8 timeout;		/* TSG */
	u8 runqueue;		/* channel, 16-byte form */
	u8 inst_aperture;	/* channel, 16-byte form */
	u8 casid;		/* channel, Blackwell: its subcontext */
	u16 id;			/* TSG or channel */
	u16 length;		/* TSG: number of channels */
	u64 inst;		/* channel, 16-byte form */
};

/* Return vid, coh, ncoh or invalid. */
const char *nvdebug_aperture_name(u32 aperture);

/*
 * Decode the location, from the read-back registers up to Volta, from the
 * submit registers since. @ptr_lo, @ptr_hi: masks of the address bits of @lo
 * and @hi.
 */
void nvdebug_runlist_location_gk104(u32 base, u32 runlist,
				    struct nvdebug_runlist_location *loc);
void nvdebug_runlist_location_tu102(u32 lo, u32 hi, u32 submit, u32 info,
				    u32 ptr_lo, u32 ptr_hi,
				    struct nvdebug_runlist_location *loc);

/* Return whether two locations are the same, without regard to ->pending. */
bool nvdebug_runlist_location_same(const struct nvdebug_runlist_location *a,
				   const struct nvdebug_runlist_location *b);

/*
 * Decode an entry. Returns 0, or -EINVAL if @words is less than the size of an
 * entry. An entry with bits set that must be zero is NVDEBUG_ENTRY_UNKNOWN,
 * with nothing else filled in.
 */
int nvdebug_entry8_decode(const u32 *word, size_t words,
			  struct nvdebug_entry *entry);
int nvdebug_entry16_decode(const u32 *word, size_t words,
			   struct nvdebug_entry *entry);
/* Decode an entry with a subcontext id above a channel's instance pointer. */
int nvdebug_entry16_decode_gb10b(const u32 *word, size_t words,
				 struct nvdebug_entry *entry);

/*
 * Return whether word @i of a list is not decoded, given the words before it.
 * In a channel's entry these are the words of USERD's address. Up to Turing a
 * channel's register has the instance pointer, so the pointer's high word is
 * not decoded either, unless another word looks like an error code: then the
 * high word confirms or refutes the error.
 */
bool nvdebug_entry8_skip(const u32 *word, size_t i);
bool nvdebug_entry16_skip(const u32 *word, size_t i);
bool nvdebug_entry16_skip_gv100(const u32 *word, size_t i);
/*
 * The same for a list of which only kinds and ids are wanted, whatever its form.
 * They are in word 0, or in words 0 and 2, and word 3 confirms or refutes an
 * error.
 */
bool nvdebug_entry_skip_all_but_id(const u32 *word, size_t i);

/*
 * Return whether any word of the entry is an error code of the register bus.
 * Low address words are not checked, since they can have such values.
 */
bool nvdebug_entry8_is_pri_error(const u32 *word, size_t words);
bool nvdebug_entry16_is_pri_error(const u32 *word, size_t words);

/*
 * Return how many entries after TSG header entry[@at] are its channels: its
 * length, unless the list or the run of channels ends first.
 */
size_t nvdebug_tsg_members(const struct nvdebug_entry *entry, size_t entries,
			   size_t at);

/*
 * Return the timeslice in nanoseconds, from fields of 8 and 4 bits. A timeout
 * of 0 is one unit.
 */
u64 nvdebug_timeslice_ns(u32 timeout, u32 scale);

#ifdef __cplusplus
}
#endif
#endif
