// SPDX-License-Identifier: MIT OR GPL-2.0
/*
 * Run the decoders on known words, as compiled for the kernel. The unit tests
 * in user space cover much more.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/errno.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "decode/channel.h"
#include "decode/chip_id.h"
#include "decode/context.h"
#include "decode/copy.h"
#include "decode/engine_status.h"
#include "decode/geometry.h"
#include "decode/instance.h"
#include "decode/ptop.h"
#include "decode/runlist.h"
#include "decode/targets.h"
#include "hw/pfifo.h"
#include "hw/ptop.h"
#include "hw/ram.h"
#include "hw/runlist.h"
#include "selftest.h"

struct chip_id_test {
	u32 boot0, boot42;
	int ret;
	u16 chip;
	u8 revision;
};

static bool __init test_chip_id(void)
{
	static const struct chip_id_test tests[] __initconst = {
		{ 0x136000a1, 0x136a1000, 0, 0x136, 0xa1 },
		{ 0xb72000a1, 0, 0, 0x172, 0xa1 },	/* foundry bits set */
		{ 0x15b000a1, 0x15ba1000, 0, 0x15b, 0xa1 },
		{ 0x136000a1, 0x172a1000, -EINVAL, 0x136, 0xa1 },
		{ 0x00000100, 0x200b2000, 0, 0x200, 0xb2 },
		{ 0xffffffff, 0, -ENODEV },
		{ 0xbadf0200, 0, -EIO },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		struct nvdebug_chip_id id = { };

		if (nvdebug_chip_id_decode(tests[i].boot0, tests[i].boot42,
					   &id) != tests[i].ret ||
		    id.chip != tests[i].chip ||
		    id.revision != tests[i].revision)
			return false;
	}
	return true;
}

static bool __init same_engine(const struct nvdebug_engine *a,
			       const struct nvdebug_engine *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static bool __init test_ptop_v1(void)
{
	/* read from a GV11B; the last word starts what the table cuts off */
	static const u32 rows[] __initconst = {
		0x8006183e, 0x80000003, 0x00400205,
		0x88028c3e, 0x8000004f, 0x0010407d,
		0x00000000,
		0x8c030e3e, 0x8000004f, 0x04104085,
		0x8423aa3e, 0x8000004f, 0x0810408d,
		0x800d800a,
	};
	static const struct nvdebug_engine engines[] __initconst = {
		{ .type = NV_PTOP_TYPE_GRAPHICS, .has = 0x7b, .fault_id = 64,
		  .reset_id = 12, .intr_id = 12, .pri_base = 0x400000 },
		{ .type = NV_PTOP_TYPE_LCE, .has = 0x7b, .engine_id = 2,
		  .fault_id = 15, .reset_id = 6, .intr_id = 5,
		  .pri_base = 0x104000 },
		{ .type = NV_PTOP_TYPE_LCE, .inst = 1, .has = 0x7b,
		  .engine_id = 3, .fault_id = 16, .reset_id = 7, .intr_id = 6,
		  .pri_base = 0x104000 },
		{ .type = NV_PTOP_TYPE_LCE, .inst = 2, .has = 0x7b,
		  .engine_id = 1, .runlist = 1, .fault_id = 17, .reset_id = 21,
		  .intr_id = 7, .pri_base = 0x104000 },
	};
	struct nvdebug_engine out[ARRAY_SIZE(engines)];
	u32 ignored;
	size_t i;

	if (nvdebug_ptop_v1_decode(rows, ARRAY_SIZE(rows), out,
				   ARRAY_SIZE(out), &ignored) !=
	    ARRAY_SIZE(engines) || ignored != 1)
		return false;
	for (i = 0; i < ARRAY_SIZE(engines); i++)
		if (!same_engine(&out[i], &engines[i]))
			return false;
	return nvdebug_ptop_v1_decode(rows, ARRAY_SIZE(rows), out, 1,
				      NULL) == -ENOSPC;
}

static bool __init test_ptop_v2(void)
{
	static const u32 rows[] __initconst = {
		0x80000040, 0xc0400000, 0x00d00000,
		0x00000000,
		0x93020011, 0xc0104000, 0x00d01000,
		0x94000002, 0x00110000,			/* not an engine */
		0x17000000,				/* one row is too few */
	};
	static const struct nvdebug_engine engines[] __initconst = {
		{ .type = NV_PTOP_TYPE_GRAPHICS, .has = 0x4c, .fault_id = 64,
		  .pri_base = 0x400000, .runlist_base = 0xd00000 },
		{ .type = NV_PTOP_TYPE_LCE, .inst = 2, .has = 0x4c,
		  .fault_id = 17, .pri_base = 0x104000,
		  .runlist_base = 0xd01000 },
		{ .type = NV_PTOP_TYPE_GSP, .has = 0x48, .fault_id = 2,
		  .pri_base = 0x110000 },
	};
	struct nvdebug_engine out[ARRAY_SIZE(engines)];
	struct nvdebug_ptop_cfg cfg;
	u32 ignored;
	size_t i;

	if (nvdebug_ptop_v2_decode(rows, ARRAY_SIZE(rows), out,
				   ARRAY_SIZE(out), &ignored) !=
	    ARRAY_SIZE(engines) || ignored != 1)
		return false;
	for (i = 0; i < ARRAY_SIZE(engines); i++)
		if (!same_engine(&out[i], &engines[i]))
			return false;

	return !nvdebug_ptop_v2_cfg_decode(0x16130992, 2, &cfg) &&
	       cfg.num_rows == 353 && cfg.max_devices == 153 &&
	       nvdebug_ptop_v2_cfg_decode(0x16130991, 2, &cfg) == -EPROTO &&
	       nvdebug_ptop_v2_cfg_decode(0xfff30992, 2, &cfg) == -ERANGE;
}

struct entry_test {
	u32 word[NVDEBUG_ENTRY_WORDS];
	size_t words;
	struct nvdebug_entry entry;
};

static bool __init test_runlist(void)
{
	static const struct entry_test tests[] __initconst = {
		{ { 0x0a00e005 }, NV_RAMRL8_WORDS,
		  { .kind = NVDEBUG_ENTRY_TSG, .id = 5, .length = 2,
		    .scale = 3, .timeout = 128 } },
		{ { 0x00000012, 0x00012345 }, NV_RAMRL8_WORDS,
		  { .kind = NVDEBUG_ENTRY_CHANNEL, .id = 0x12 } },
		{ { 0xffffffff, 0xffffffff }, NV_RAMRL8_WORDS, { } },
		{ { 0x80030001, 2, 5 }, NV_RAMRL16_WORDS,
		  { .kind = NVDEBUG_ENTRY_TSG, .id = 5, .length = 2,
		    .scale = 3, .timeout = 128 } },
		{ { 0xfa020001, 0x80, 7 }, NV_RAMRL16_WORDS,
		  { .kind = NVDEBUG_ENTRY_TSG, .id = 7, .length = 128,
		    .scale = 2, .timeout = 250 } },
		{ { 0x9abcde82, 0, 0x23456012, 1 }, NV_RAMRL16_WORDS,
		  { .kind = NVDEBUG_ENTRY_CHANNEL, .id = 0x12, .runqueue = 1,
		    .inst = 0x123456000 } },
		{ { 0x80030001, 2, 5, 1 }, NV_RAMRL16_WORDS, { } },
	};
	static const u32 blackwell[] __initconst = {
		0x9abcde82, 0x0c000000, 0x23456012, 0x0c000001
	};
	struct nvdebug_runlist_location loc;
	struct nvdebug_entry entry;
	size_t i;

	if (nvdebug_entry16_decode_gb10b(blackwell, ARRAY_SIZE(blackwell),
					 &entry) ||
	    entry.inst != 0x123456000 || entry.casid != 3)
		return false;
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		const struct nvdebug_entry *want = &tests[i].entry;
		struct nvdebug_entry e;
		int ret;

		ret = tests[i].words == NV_RAMRL8_WORDS ?
			nvdebug_entry8_decode(tests[i].word, 2, &e) :
			nvdebug_entry16_decode(tests[i].word, 4, &e);
		if (ret || e.kind != want->kind || e.id != want->id ||
		    e.length != want->length || e.scale != want->scale ||
		    e.timeout != want->timeout || e.inst != want->inst ||
		    e.runqueue != want->runqueue)
			return false;
	}

	nvdebug_runlist_location_gk104(0x20012345, 0x00100009, &loc);
	if (loc.addr != 0x12345000 || loc.aperture != NV_APERTURE_COH ||
	    loc.entries != 9 || !loc.pending)
		return false;
	nvdebug_runlist_location_tu102(0x23456403, 0x1, 0x00050009, 0x8000,
				       NV_RUNLIST_SUBMIT_BASE_LO_PTR_LO_GA102,
				       NV_RUNLIST_SUBMIT_BASE_HI_PTR_HI, &loc);
	return loc.addr == 0x123456400 && loc.aperture == NV_APERTURE_NCOH &&
	       loc.entries == 9 && loc.pending &&
	       nvdebug_timeslice_ns(244, 3) == 1998848 &&
	       nvdebug_timeslice_ns(0, 2) == 1024;
}

static bool __init test_channel(void)
{
	struct nvdebug_instance_place inst;
	struct nvdebug_pccsr pccsr;
	struct nvdebug_chram chram;

	nvdebug_pccsr_decode(0x16000001, &pccsr);
	nvdebug_pccsr_inst_decode(0xa0012345, &inst);
	nvdebug_chram_decode(0x00000cca, &chram);

	return pccsr.enabled && pccsr.busy && !pccsr.eng_faulted &&
	       pccsr.status == NV_PCCSR_CHANNEL_STATUS_ON_PBDMA_AND_ENG &&
	       inst.addr == 0x12345000 && inst.bound &&
	       inst.aperture == NV_APERTURE_COH &&
	       chram.enabled && chram.on_eng && chram.eng_busy &&
	       chram.status == NV_PCCSR_CHANNEL_STATUS_ON_PBDMA_AND_ENG &&
	       /* a fault is not acknowledged by accident */
	       nvdebug_pccsr_enable_word_gv100(0x16f00f03, false) ==
			0x16000803 &&
	       nvdebug_pccsr_enable_word_gk104(0x16000002, true) ==
			0x16000402 &&
	       nvdebug_chram_enable_word(0xcca, true) == 2 &&
	       nvdebug_chram_enable_word(0xcca, false) == 3;
}

static bool __init test_instance(void)
{
	/* TARGET, CONFIG, eight words from PAGE_DIR_BASE on, SC_PDB_VALID */
	static const u32 gv100[] __initconst = {
		0x0001001f, 0x00000100,
		0x00100c06, 0x00000002, 0, 0, 0x7f000004, 0x00000001,
		0x00000005, 0x80012345, 0x00000021, 0x00000000,
	};
	static const u32 entry[] __initconst = { 0x00123c00, 1, 7 };
	static const u32 unused[] __initconst = { 1, 1, 0 };
	struct nvdebug_subcontext sc;
	struct nvdebug_instance i;

	return !nvdebug_instance_decode(&nvdebug_instance_gv100, gv100,
					ARRAY_SIZE(gv100), &i) &&
	       i.dir.addr == 0x200100000 && i.dir.aperture == NV_APERTURE_COH &&
	       i.dir.is_volatile && i.version == 2 && i.big_page_kib == 64 &&
	       i.target_engine == 31 && i.privileged && i.veid == 5 &&
	       i.pasid == 0x12345 && i.ats && i.wfi == 0x17f000000 &&
	       i.wfi_virtual && i.valid == 0x21 &&
	       nvdebug_instance_decode(&nvdebug_instance_gv100, gv100,
				       ARRAY_SIZE(gv100) - 1, &i) == -EINVAL &&
	       nvdebug_subcontext_decode(5, entry, ARRAY_SIZE(entry), &sc) == 1 &&
	       sc.dir.addr == 0x100123000 && sc.veid == 5 && sc.pasid == 7 &&
	       !nvdebug_subcontext_decode(0, unused, ARRAY_SIZE(unused), &sc);
}

static bool __init test_context(void)
{
	/* CTL, FULL_PREEMPTION_PTR, modes, counts by kind, CONTEXT_ID on */
	static const u32 gv100[] __initconst = {
		0xcafe0020, 0, 0x12345, 1, 2, 3, 4, 5, 6, 17, 18, 19, 0x600dc0de,
	};
	static const u32 header[] __initconst = { 0x21, 1, 0x7f010000 };
	struct nvdebug_context c;
	u32 bad[ARRAY_SIZE(gv100)];
	u64 va;

	memcpy(bad, gv100, sizeof(bad));
	bad[ARRAY_SIZE(bad) - 1] = 0;
	return !nvdebug_context_decode(&nvdebug_context_gv100, gv100,
				       ARRAY_SIZE(gv100), &c) &&
	       c.type == 0x20 && c.save_area && c.graphics_preemption == 1 &&
	       c.compute_preemption == 2 && c.wfi_saves == 3 &&
	       c.cilp_saves == 6 && c.id == 17 && c.saves == 18 &&
	       c.restores == 19 &&
	       nvdebug_context_decode(&nvdebug_context_gv100, bad,
				      ARRAY_SIZE(bad), &c) == -EBADMSG &&
	       nvdebug_context_pointer_decode(&nvdebug_context_gv100,
					      header, &va) &&
	       va == 0x17f010000 &&
	       !nvdebug_context_pointer_decode(&nvdebug_context_gv100,
					       gv100, &va);
}

static bool __init test_engine_status(void)
{
	struct nvdebug_engine_status before, after;

	/* the same word on either side of where LOAD and SAVE swapped */
	nvdebug_engine_status_gk104(0x9006a005, &before);
	nvdebug_engine_status_ga100(0x9006a005, &after);
	return before.ctx.state == NVDEBUG_CTX_LOAD &&
	       !before.ctx.owner.there && before.ctx.next.there &&
	       before.ctx.next.is_tsg && before.ctx.next.id == 6 &&
	       before.busy && !before.faulted &&
	       after.ctx.state == NVDEBUG_CTX_SAVE &&
	       after.ctx.owner.there && after.ctx.owner.id == 5 &&
	       !after.ctx.next.there;
}

static bool __init test_geometry(void)
{
	/* a GTX 1060 3GB, then the sizes of memory in each form */
	static const u32 places[] __initconst = {
		0x11011000, 0x13031202, 0x00000004
	};
	struct nvdebug_tpc_place place = { };
	u32 gpcs, tpcs;

	nvdebug_cwd_fs_decode(0x902, &gpcs, &tpcs);
	return gpcs == 2 && tpcs == 9 &&
	       !nvdebug_tpc_find(places, ARRAY_SIZE(places), 7, &place) &&
	       place.gpc == 1 && place.tpc == 3 &&
	       nvdebug_tpc_find(places, ARRAY_SIZE(places), 12, &place) ==
			-ERANGE &&
	       nvdebug_video_memory_gp102(0x4000020a) == 30ULL << 30 &&
	       nvdebug_video_memory_ga102(0xc000) == 48ULL << 30;
}

static bool __init test_copy(void)
{
	return nvdebug_pce_lce_gp100(0x77777732, 1) == 3 &&
	       nvdebug_pce_lce_gp100(0x77777732, 2) == NVDEBUG_LCE_NONE &&
	       nvdebug_pce_lce_gp100(0, 8) == NVDEBUG_LCE_NONE &&
	       nvdebug_pce_lce_gv100(0x4, 1) == 4 &&
	       nvdebug_pce_lce_gv100(0xf, 1) == NVDEBUG_LCE_NONE &&
	       nvdebug_grce_lce_gp100(0x0a0b, 1) == 2 &&
	       nvdebug_grce_lce_gp100(0x0203, 1) == NVDEBUG_LCE_NONE &&
	       nvdebug_grce_lce_gv100(0x3, 0) == 3 &&
	       nvdebug_grce_lce_tu102(0xc0000003, 0) == 3 &&
	       nvdebug_grce_lce_tu102(0x00000000, 0) == NVDEBUG_LCE_NONE;
}

struct targets_test {
	const char *text;
	int ret;
};

static bool __init test_targets(void)
{
	static const struct targets_test tests[] __initconst = {
		{ "3 0x5 0:7\n", 3 },
		{ "\t0x0c\n\n", 1 },
		{ "4294967295", 1 },
		{ "4294967296", -ERANGE },
		{ "4294967296x", -EINVAL },
		{ "", -EINVAL },
		{ "\n ", -EINVAL },
		{ "0x", -EINVAL },
		{ "014", -EINVAL },
		{ "-1", -EINVAL },
		{ "1:", -EINVAL },
		{ "1:2:3", -EINVAL },
		{ "1 2 3 4", -E2BIG },
	};
	struct nvdebug_target t[3];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tests); i++)
		if (nvdebug_targets_parse(tests[i].text, strlen(tests[i].text),
					  t, ARRAY_SIZE(t)) != tests[i].ret)
			return false;

	nvdebug_targets_parse("0xc 0x5 2:7", 11, t, ARRAY_SIZE(t));
	return t[0].id == 12 && !t[0].has_runlist && t[1].id == 5 &&
	       t[2].has_runlist && t[2].runlist == 2 && t[2].id == 7;
}

struct selftest {
	const char *name;
	bool (*run)(void);
};

int __init nvdebug_selftest(void)
{
	static const struct selftest tests[] __initconst = {
		{ "chip id", test_chip_id },
		{ "PTOP v1", test_ptop_v1 },
		{ "PTOP v2", test_ptop_v2 },
		{ "runlist", test_runlist },
		{ "channel", test_channel },
		{ "instance block", test_instance },
		{ "context image", test_context },
		{ "engine status", test_engine_status },
		{ "geometry", test_geometry },
		{ "copy engine", test_copy },
		{ "target", test_targets },
	};
	int ret = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		if (tests[i].run()) {
			pr_info("%s self-tests: pass\n", tests[i].name);
		} else {
			pr_err("%s self-tests: FAIL\n", tests[i].name);
			ret = -EINVAL;
		}
	}
	return ret;
}
