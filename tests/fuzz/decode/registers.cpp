// SPDX-License-Identifier: MIT OR GPL-2.0
// Registers of one or two words: chip, channels, engines, copy wiring, BARs,
// geometry.
#include "decode/bar.h"
#include "decode/channel.h"
#include "decode/chip_id.h"
#include "decode/copy.h"
#include "decode/geometry.h"
#include "decode/occupied.h"
#include "decode/register.h"

#include "words.hpp"

#include <linux/errno.h>

namespace {

void chip(u32 boot0, u32 boot42) {
    nvdebug_chip_id id{};
    const int ret = nvdebug_chip_id_decode(boot0, boot42, &id);
    FUZZ_REQUIRE(!ret || ret == -EINVAL || ret == nvdebug_reg_value_check(boot0));
    nvdebug_boot1_is_virtual(boot0);
}

void channel(u32 word, u32 inst) {
    constexpr u32 enable_set = 0x400;
    constexpr u32 enable_clear = 0x800;
    nvdebug_pccsr pccsr;
    nvdebug_pccsr_decode(word, &pccsr);
    FUZZ_REQUIRE(pccsr.enabled == nvdebug_pccsr_is_enabled(word));
    FUZZ_REQUIRE(nvdebug_channel_status_name(pccsr.status));

    nvdebug_instance_place place;
    nvdebug_pccsr_inst_decode(inst, &place);
    FUZZ_REQUIRE(!(place.addr & 0xfff));

    nvdebug_chram chram;
    nvdebug_chram_decode(word, &chram);
    FUZZ_REQUIRE(chram.enabled == nvdebug_chram_is_enabled(word));
    FUZZ_REQUIRE(std::strcmp(nvdebug_channel_status_name(chram.status), "-"));

    // Whatever the word was, the result sets one of the two triggers, and acknowledges no fault.
    for (const bool enable : {false, true}) {
        for (const u32 write : {nvdebug_pccsr_enable_word_gk104(word, enable),
                                nvdebug_pccsr_enable_word_gv100(word, enable)})
            FUZZ_REQUIRE((write & (enable_set | enable_clear)) ==
                         (enable ? enable_set : enable_clear));
        nvdebug_pccsr after;
        nvdebug_pccsr_decode(nvdebug_pccsr_enable_word_gv100(word, enable), &after);
        FUZZ_REQUIRE(!after.pbdma_faulted && !after.eng_faulted && !after.force_ctx_reload);
        FUZZ_REQUIRE(nvdebug_chram_enable_word(word, enable) ==
                     nvdebug_chram_enable_word(~word, enable));
    }
}

struct Asked {
    bool is_tsg;
    u32 id;
};

bool counts(const void *who, bool is_tsg, u32 id) {
    const Asked &asked = *static_cast<const Asked *>(who);
    return asked.is_tsg == is_tsg && asked.id == id;
}

bool nobody(const void *, bool, u32) {
    return false;
}

void status(const nvdebug_ctx_status &ctx, const Asked &asked) {
    const char *const name = nvdebug_ctx_state_name(static_cast<nvdebug_ctx_state>(ctx.state));
    FUZZ_REQUIRE(!name == (ctx.state == NVDEBUG_CTX_UNDEFINED));
    FUZZ_REQUIRE(ctx.owner.there || (!ctx.owner.id && !ctx.owner.is_tsg));
    FUZZ_REQUIRE(ctx.next.there || (!ctx.next.id && !ctx.next.is_tsg));
    // Only the owner and the next context can be on the engine or PBDMA.
    const bool engine = nvdebug_engine_is_occupied(&ctx, counts, &asked);
    const bool pbdma = nvdebug_pbdma_is_occupied(&ctx, counts, &asked);
    FUZZ_REQUIRE(engine || !pbdma);
    FUZZ_REQUIRE(nvdebug_pbdma_is_occupied(&ctx, nobody, nullptr) ==
                 (ctx.state == NVDEBUG_CTX_UNDEFINED));
}

void engines(u32 word, const Asked &asked) {
    nvdebug_engine_status engine;
    nvdebug_engine_status_gk104(word, &engine);
    status(engine.ctx, asked);
    nvdebug_engine_status_ga100(word, &engine);
    status(engine.ctx, asked);
    FUZZ_REQUIRE(engine.ctx.owner.is_tsg == engine.ctx.owner.there);
}

void copy(u32 word, u32 unit) {
    const auto lce = [](u8 number) { FUZZ_REQUIRE(number < 32 || number == NVDEBUG_LCE_NONE); };
    lce(nvdebug_pce_lce_gp100(word, unit));
    lce(nvdebug_pce_lce_gv100(word, unit));
    lce(nvdebug_grce_lce_gp100(word, unit));
    lce(nvdebug_grce_lce_gv100(word, unit));
    lce(nvdebug_grce_lce_tu102(word, unit));
}

void bars(u32 low, u32 high) {
    nvdebug_bar_block block;
    for (const int bar : {1, 2}) {
        nvdebug_bar_block_gk104(low, high, bar, &block);
        FUZZ_REQUIRE(!(block.inst & 0xfff) && (bar == 2 || !block.halved));
    }
    nvdebug_bar_block_gh100(low, high, &block);
    FUZZ_REQUIRE(!(block.inst & 0xfff));
}

void geometry(const std::vector<u32> &words, u32 id) {
    const u32 word = words[0];
    const u32 mask = nvdebug_unit_mask(id);
    FUZZ_REQUIRE(static_cast<u32>(__builtin_popcount(mask)) == std::min(id, 32U));
    u32 gpcs;
    u32 tpcs;
    nvdebug_cwd_fs_decode(word, &gpcs, &tpcs);
    nvdebug_cwd_partition partition;
    nvdebug_cwd_partition_decode(word, &partition);
    FUZZ_REQUIRE(nvdebug_partitioning_name(partition.partitioning));
    FUZZ_REQUIRE(nvdebug_partition_table_name(partition.table));

    nvdebug_tpc_place place;
    const u32 count = static_cast<u32>(words.size());
    FUZZ_REQUIRE(nvdebug_tpc_find(words.data(), count, id, &place) ==
                 (id / 4 < count ? 0 : -ERANGE));
    nvdebug_video_memory_gp102(word);
    nvdebug_video_memory_ga102(word);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    FuzzedDataProvider input(data, size);
    const u32 a = input.ConsumeIntegral<u32>();
    const u32 b = input.ConsumeIntegral<u32>();
    const u32 id = input.ConsumeIntegral<u32>() >> input.ConsumeIntegralInRange(0, 31);
    chip(a, b);
    channel(a, b);
    engines(a, {input.ConsumeBool(), id});
    copy(a, id);
    bars(a, b);
    const std::vector<u32> words = fuzz::all_words(input);
    if (!words.empty())
        geometry(words, id);
    return 0;
}
