// SPDX-License-Identifier: MIT OR GPL-2.0
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "decode/mmu.h"
#include "decode/mmu_coding.h"
#include "hw/mmu.h"
#include "hw/ram.h"

static bool bits_match(u64 raw, const struct nvdebug_mmu_bit_match *m)
{
	return m->mask && (raw & m->mask) == m->value;
}

/* FIELD_GET() for a mask that is not constant. */
static u64 get_field(u64 mask, u64 raw)
{
	return mask ? (raw & mask) >> __ffs64(mask) : 0;
}

static const struct nvdebug_mmu_level *
dual_level(const struct nvdebug_mmu_format *f)
{
	return &f->directory[f->directories - 1];
}

static bool is_page_table(const struct nvdebug_mmu_format *f,
			  const struct nvdebug_mmu_level *level)
{
	return level == &f->big || level == &f->small;
}

static u64 level_size(const struct nvdebug_mmu_level *level)
{
	return 1ULL << level->shift;
}

static u32 level_index(const struct nvdebug_mmu_level *level, u64 va)
{
	return (va >> level->shift) & ((1U << level->bits) - 1);
}

static u32 level_words(const struct nvdebug_mmu_format *f,
		       const struct nvdebug_mmu_level *level)
{
	return level == dual_level(f) ? f->coding->half_bits / 16 : 2;
}

static u64 level_addr(const struct nvdebug_mmu_format *f,
		      const struct nvdebug_mmu_level *level,
		      const struct nvdebug_mmu_table *table, u64 va)
{
	return table->addr +
	       (u64)level_index(level, va) * level_words(f, level) * sizeof(u32);
}

static void decode_table(const struct nvdebug_mmu_coding *c,
			 const struct nvdebug_mmu_pointer_coding *p, u64 raw,
			 struct nvdebug_mmu_table *table)
{
	u64 aperture = get_field(p->aperture, raw);

	table->present = aperture != NV_MMU_PDE_APERTURE_INVALID;
	if (!table->present)
		return;
	if (aperture == NV_MMU_PDE_APERTURE_VID) {
		table->aperture = NV_APERTURE_VID;
		table->addr = (raw & p->vid) << c->shift;
	} else {
		table->aperture = aperture == NV_MMU_PDE_APERTURE_COH ?
				  NV_APERTURE_COH : NV_APERTURE_NCOH;
		table->addr = (raw & p->sys) << c->shift;
	}
}

static void decode_page(const struct nvdebug_mmu_coding *c, u64 raw,
			struct nvdebug_mmu_entry *e)
{
	bool local;

	e->meaning = NVDEBUG_MMU_PAGE;
	e->aperture = get_field(c->aperture, raw);
	local = e->aperture == NV_APERTURE_VID;
	e->addr = (raw & (local || e->aperture == NVDEBUG_APERTURE_PEER ?
			  c->page_vid : c->page_sys)) << c->shift;
	if (e->aperture == NVDEBUG_APERTURE_PEER)
		e->peer = get_field(c->peer, raw);
	e->kind = get_field(c->kind, raw);
	if (raw & c->privileged)
		e->flags |= NVDEBUG_PAGE_PRIVILEGED;
	if (raw & c->read_only)
		e->flags |= NVDEBUG_PAGE_READ_ONLY;
	if (raw & c->no_atomics)
		e->flags |= NVDEBUG_PAGE_NO_ATOMICS;
	if (raw & c->uncached)
		e->flags |= NVDEBUG_PAGE_VOLATILE;
	if ((local && raw & c->compressed) ||
	    (c->compressed_first && e->kind >= c->compressed_first &&
	     e->kind <= c->compressed_last))
		e->flags |= NVDEBUG_PAGE_COMPRESSED;
}

/* Decode an entry of a page table, or a page in a directory. */
static void decode_pte(const struct nvdebug_mmu_coding *c, u64 raw,
		       struct nvdebug_mmu_entry *e)
{
	if (raw & NV_MMU_VALID)
		decode_page(c, raw, e);
	else if (bits_match(raw, &c->sparse))
		e->meaning = NVDEBUG_MMU_SPARSE;
	else if (bits_match(raw, &c->no_small))
		e->meaning = NVDEBUG_MMU_NO_SMALL;
	else
		e->meaning = NVDEBUG_MMU_INVALID;
}

static void decode_pde(const struct nvdebug_mmu_coding *c, u64 raw,
		       struct nvdebug_mmu_entry *e)
{
	decode_table(c, &c->table, raw, &e->table);
	if (e->table.present)
		e->meaning = NVDEBUG_MMU_TABLE;
	else if (bits_match(raw, &c->sparse_table))
		e->meaning = NVDEBUG_MMU_SPARSE;
	else
		e->meaning = NVDEBUG_MMU_INVALID;
}

static void decode_dual(const struct nvdebug_mmu_coding *c, const u64 *raw,
			struct nvdebug_mmu_entry *e)
{
	u64 small = c->half_bits == 32 ? raw[0] >> 32 : raw[1];

	decode_table(c, &c->big, raw[0], &e->table);
	decode_table(c, &c->table, small, &e->small);
	e->reduced = get_field(c->size, raw[0]);
	if (e->table.present || e->small.present)
		e->meaning = NVDEBUG_MMU_DUAL;
	else if (bits_match(raw[0], &c->sparse_dual))
		e->meaning = NVDEBUG_MMU_SPARSE;
	else
		e->meaning = NVDEBUG_MMU_INVALID;
}

static void mmu_decode_entry(const struct nvdebug_mmu_format *f,
			     const struct nvdebug_mmu_level *level,
			     const u64 *raw, struct nvdebug_mmu_entry *e)
{
	memset(e, 0, sizeof(*e));
	if (is_page_table(f, level) || (level->page && raw[0] & NV_MMU_VALID))
		decode_pte(f->coding, raw[0], e);
	else if (level == dual_level(f))
		decode_dual(f->coding, raw, e);
	else
		decode_pde(f->coding, raw[0], e);
	/* A table of small pages has no smaller pages below it. */
	if (level == &f->small && e->meaning == NVDEBUG_MMU_NO_SMALL)
		e->meaning = NVDEBUG_MMU_INVALID;
}

static void raw_entry(const struct nvdebug_mmu_format *f,
		      const struct nvdebug_mmu_level *level, const u32 *words,
		      u64 *raw)
{
	raw[0] = words[0] | (u64)words[1] << 32;
	raw[1] = 0;
	if (level_words(f, level) == 4)
		raw[1] = words[2] | (u64)words[3] << 32;
}

static bool is_in_memory(const struct nvdebug_mmu_table *table,
			 u64 video_memory)
{
	return table->aperture != NV_APERTURE_VID || !video_memory ||
	       table->addr < video_memory;
}

static bool is_aperture(u8 aperture)
{
	return aperture == NV_APERTURE_VID || aperture == NV_APERTURE_COH ||
	       aperture == NV_APERTURE_NCOH;
}

/* Return whether the table can be a root. */
static bool is_root(const struct nvdebug_mmu_table *table)
{
	return is_aperture(table->aperture) &&
	       !(table->addr & (NV_MMU_ROOT_ALIGN - 1));
}

bool nvdebug_mmu_va(const struct nvdebug_mmu_format *f, u64 *va)
{
	u64 above = *va >> f->va_bits;
	u64 sign = *va >> (f->va_bits - 1);

	if (above && sign != ~0ULL >> (f->va_bits - 1))
		return false;
	*va &= (1ULL << f->va_bits) - 1;
	return true;
}

void nvdebug_walk_start(struct nvdebug_walk *w,
			const struct nvdebug_mmu_format *f, u64 pdb,
			u8 aperture, u64 va)
{
	memset(w, 0, sizeof(*w));
	w->format = f;
	w->level = &f->directory[0];
	w->table.addr = pdb;
	w->table.aperture = aperture;
	w->va = va;
	if (!nvdebug_mmu_va(f, &w->va))
		w->state = NVDEBUG_WALK_OUT_OF_RANGE;
	else if (!is_aperture(aperture))
		w->state = NVDEBUG_WALK_BAD_APERTURE;
	else if (!is_root(&w->table))
		w->state = NVDEBUG_WALK_BAD_TABLE;
}

void nvdebug_walk_limit(struct nvdebug_walk *w, u64 video_memory, u64 va_limit)
{
	w->video_memory = video_memory;
	if (w->state != NVDEBUG_WALK_GOING)
		return;
	if (va_limit && w->va > (va_limit | 0xfff))
		w->state = NVDEBUG_WALK_OUT_OF_RANGE;
	else if (!is_in_memory(&w->table, video_memory))
		w->state = NVDEBUG_WALK_BAD_TABLE;
}

bool nvdebug_walk_wants(const struct nvdebug_walk *w, u64 *addr, u8 *aperture,
			u32 *words)
{
	if (w->state != NVDEBUG_WALK_GOING)
		return false;
	*addr = level_addr(w->format, w->level, &w->table, w->va);
	*aperture = w->table.aperture;
	*words = level_words(w->format, w->level);
	return true;
}

static void walk_descend(struct nvdebug_walk *w,
			 const struct nvdebug_mmu_level *level,
			 const struct nvdebug_mmu_table *table)
{
	w->level = level;
	w->table = *table;
	if (!is_in_memory(table, w->video_memory))
		w->state = NVDEBUG_WALK_BAD_TABLE;
}

static void walk_dual(struct nvdebug_walk *w, const struct nvdebug_mmu_entry *e)
{
	const struct nvdebug_mmu_format *f = w->format;
	u64 size = level_size(w->level);

	w->small = e->small;
	if ((w->va & (size - 1)) >= size >> e->reduced)
		w->state = NVDEBUG_WALK_INVALID;
	else if (e->table.present)
		walk_descend(w, &f->big, &e->table);
	else
		walk_descend(w, &f->small, &e->small);
}

static void walk_page(struct nvdebug_walk *w, const struct nvdebug_mmu_entry *e)
{
	w->state = e->aperture == NVDEBUG_APERTURE_PEER ? NVDEBUG_WALK_PEER :
							  NVDEBUG_WALK_MAPPED;
	w->aperture = e->aperture;
	w->flags = e->flags;
	w->kind = e->kind;
	w->peer = e->peer;
	w->page_size = level_size(w->level);
	/* Address bits below the page size are ignored. */
	w->addr = (e->addr & ~(w->page_size - 1)) |
		  (w->va & (w->page_size - 1));
}

void nvdebug_walk_feed(struct nvdebug_walk *w, const u32 *words)
{
	const struct nvdebug_mmu_format *f = w->format;
	struct nvdebug_walk_step *step;

	if (w->state != NVDEBUG_WALK_GOING)
		return;
	step = &w->step[w->steps++];
	step->level = w->level;
	step->index = level_index(w->level, w->va);
	step->aperture = w->table.aperture;
	step->words = level_words(f, w->level);
	step->addr = level_addr(f, w->level, &w->table, w->va);
	raw_entry(f, w->level, words, step->raw);
	mmu_decode_entry(f, w->level, step->raw, &step->entry);

	switch (step->entry.meaning) {
	case NVDEBUG_MMU_TABLE:
		walk_descend(w, w->level + 1, &step->entry.table);
		break;
	case NVDEBUG_MMU_DUAL:
		walk_dual(w, &step->entry);
		break;
	case NVDEBUG_MMU_PAGE:
		walk_page(w, &step->entry);
		break;
	case NVDEBUG_MMU_SPARSE:
		w->state = NVDEBUG_WALK_SPARSE;
		break;
	case NVDEBUG_MMU_NO_SMALL:
		w->state = NVDEBUG_WALK_NO_SMALL;
		break;
	default:
		if (w->level == &f->big && w->small.present)
			walk_descend(w, &f->small, &w->small);
		else
			w->state = NVDEBUG_WALK_INVALID;
	}
}

/* Continue the scan at @va, which is above the current position. */
static void scan_move(struct nvdebug_scan *s, u64 va)
{
	const struct nvdebug_mmu_format *f = s->format;
	u64 dual_size = level_size(dual_level(f));
	bool in_page_table = is_page_table(f, s->level);
	u64 changed;
	int i;

	if (in_page_table && va >= s->covered)
		va = (va + dual_size - 1) & ~(dual_size - 1);
	changed = s->va ^ va;
	s->va = va;
	if (in_page_table && !(changed >> dual_level(f)->shift)) {
		if (s->big.present && changed >> f->big.shift)
			s->level = &f->big;
		return;
	}
	/* Find the deepest known table that has an entry for the position. */
	for (i = f->directories - 1; i; i--) {
		const struct nvdebug_mmu_level *level = &f->directory[i];

		if (!(changed >> (level->shift + level->bits)))
			break;
	}
	s->level = &f->directory[i];
}

/* Continue the scan after the current range of @size bytes. */
static void scan_leave(struct nvdebug_scan *s, u64 size)
{
	scan_move(s, (s->va | (size - 1)) + 1);
}

/* Return the size of the range that the wanted table covers. */
static u64 scan_table_size(const struct nvdebug_scan *s)
{
	const struct nvdebug_mmu_format *f = s->format;

	if (s->level == &f->small && s->big.present)
		return level_size(&f->big);
	return level_size(s->level) << s->level->bits;
}

u32 nvdebug_scan_run(const struct nvdebug_scan *s)
{
	u64 size = scan_table_size(s);
	u64 end = (s->va | (size - 1)) + 1;

	if (is_page_table(s->format, s->level))
		end = min(end, s->covered);
	end = min(end, s->limit);
	return (end - s->va + level_size(s->level) - 1) >> s->level->shift;
}

void nvdebug_scan_skip(struct nvdebug_scan *s)
{
	scan_leave(s, scan_table_size(s));
}

void nvdebug_scan_start(struct nvdebug_scan *s,
			const struct nvdebug_mmu_format *f, u64 pdb,
			u8 aperture, u64 limit, u64 video_memory, u32 budget)
{
	u64 end = 1ULL << f->va_bits;

	memset(s, 0, sizeof(*s));
	s->format = f;
	s->limit = limit ? min(limit, end) : end;
	s->video_memory = video_memory;
	s->budget = budget;
	s->level = &f->directory[0];
	s->directory[0].addr = pdb;
	s->directory[0].aperture = aperture;
	if (!is_root(&s->directory[0]) ||
	    !is_in_memory(&s->directory[0], video_memory))
		s->va = s->limit;
}

bool nvdebug_scan_at_end(const struct nvdebug_scan *s)
{
	return s->va >= s->limit;
}

static const struct nvdebug_mmu_table *scan_table(const struct nvdebug_scan *s)
{
	const struct nvdebug_mmu_format *f = s->format;

	if (s->level == &f->big)
		return &s->big;
	if (s->level == &f->small)
		return &s->small;
	return &s->directory[s->level - f->directory];
}

bool nvdebug_scan_wants(const struct nvdebug_scan *s, u64 *addr, u8 *aperture,
			u32 *words)
{
	const struct nvdebug_mmu_table *table = scan_table(s);

	if (nvdebug_scan_at_end(s) || !s->budget)
		return false;
	*addr = level_addr(s->format, s->level, table, s->va);
	*aperture = table->aperture;
	*words = level_words(s->format, s->level);
	return true;
}

static void scan_dual(struct nvdebug_scan *s, const struct nvdebug_mmu_entry *e)
{
	const struct nvdebug_mmu_format *f = s->format;

	s->big = e->table;
	s->big.present &= is_in_memory(&e->table, s->video_memory);
	s->small = e->small;
	s->small.present &= is_in_memory(&e->small, s->video_memory);
	s->covered = s->va + (level_size(s->level) >> e->reduced);
	if (s->big.present)
		s->level = &f->big;
	else if (s->small.present)
		s->level = &f->small;
	else
		scan_leave(s, level_size(s->level));
}

static void scan_descend(struct nvdebug_scan *s,
			 const struct nvdebug_mmu_table *table)
{
	if (!is_in_memory(table, s->video_memory)) {
		scan_leave(s, level_size(s->level));
		return;
	}
	s->level++;
	s->directory[s->level - s->format->directory] = *table;
}

bool nvdebug_scan_feed(struct nvdebug_scan *s, const u32 *words,
		       struct nvdebug_mmu_leaf *leaf)
{
	const struct nvdebug_mmu_format *f = s->format;
	struct nvdebug_mmu_entry e;
	u64 raw[2], size;

	if (nvdebug_scan_at_end(s) || !s->budget)
		return false;
	s->budget--;
	raw_entry(f, s->level, words, raw);
	mmu_decode_entry(f, s->level, raw, &e);
	size = level_size(s->level);

	switch (e.meaning) {
	case NVDEBUG_MMU_TABLE:
		scan_descend(s, &e.table);
		return false;
	case NVDEBUG_MMU_DUAL:
		scan_dual(s, &e);
		return false;
	case NVDEBUG_MMU_PAGE:
		leaf->va = s->va;
		leaf->addr = e.addr & ~(size - 1);
		leaf->size = min(size, s->limit - s->va);
		leaf->aperture = e.aperture;
		scan_leave(s, level_size(s->level));
		return true;
	case NVDEBUG_MMU_INVALID:
		if (s->level == &f->big && s->small.present) {
			s->level = &f->small;
			return false;
		}
		break;
	default:
		break;
	}
	scan_leave(s, level_size(s->level));
	return false;
}
