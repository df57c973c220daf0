// SPDX-License-Identifier: MIT OR GPL-2.0
// Page tables of every version, in memory of a few kilobytes that repeats without end, so that
// tables point into each other and in circles. Walks and scans end within their bounds, and agree.
#include "decode/mmu.h"

#include "words.hpp"

#include "hw/ram.h"

namespace {

constexpr const nvdebug_mmu_format *formats[] = {
    &nvdebug_mmu_gk104_64k, &nvdebug_mmu_gk104_128k, &nvdebug_mmu_gp100, &nvdebug_mmu_gp100_128k,
    &nvdebug_mmu_tu102,     &nvdebug_mmu_ga100,      &nvdebug_mmu_gh100, &nvdebug_mmu_gb100,
};

class Memory {
  public:
    explicit Memory(std::vector<u32> words) : words_(std::move(words)) {}

    /** Returns an entry, in memory of its exact length. */
    std::vector<u32> read(u64 addr, u8 aperture, u32 count) const {
        FUZZ_REQUIRE(count == 2 || count == NVDEBUG_MMU_ENTRY_WORDS);
        std::vector<u32> entry(count);
        for (u32 i = 0; i < count; i++)
            entry[i] = words_[(addr / sizeof(u32) + aperture + i) % words_.size()];
        return entry;
    }

  private:
    std::vector<u32> words_;
};

struct Space {
    const nvdebug_mmu_format *format;
    u64 pdb;
    u8 aperture;
    u64 video_memory;
};

bool is_aperture(u8 aperture) {
    return aperture == NV_APERTURE_VID || aperture == NV_APERTURE_COH ||
           aperture == NV_APERTURE_NCOH;
}

nvdebug_walk walk(const Space &space, const Memory &memory, u64 va, u64 va_limit) {
    nvdebug_walk w;
    nvdebug_walk_start(&w, space.format, space.pdb, space.aperture, va);
    nvdebug_walk_limit(&w, space.video_memory, va_limit);
    u64 addr;
    u8 aperture;
    u32 count;
    unsigned reads = 0;
    while (nvdebug_walk_wants(&w, &addr, &aperture, &count)) {
        FUZZ_REQUIRE(++reads <= NVDEBUG_WALK_STEPS);
        FUZZ_REQUIRE(is_aperture(aperture));
        nvdebug_walk_feed(&w, memory.read(addr, aperture, count).data());
    }
    FUZZ_REQUIRE(w.steps == reads && w.state != NVDEBUG_WALK_GOING &&
                 w.state <= NVDEBUG_WALK_OUT_OF_RANGE);
    for (unsigned i = 0; i < w.steps; i++)
        FUZZ_REQUIRE(w.step[i].level->name && w.step[i].index >> w.step[i].level->bits == 0);
    if (w.state == NVDEBUG_WALK_MAPPED || w.state == NVDEBUG_WALK_PEER) {
        FUZZ_REQUIRE((w.addr & (w.page_size - 1)) == (w.va & (w.page_size - 1)));
        FUZZ_REQUIRE((w.state == NVDEBUG_WALK_PEER) == (w.aperture == NVDEBUG_APERTURE_PEER));
    }
    return w;
}

/** Checks that a walk finds the page that a scan has reported, or reports a table outside of
 * memory. */
void leaf(const Space &space, const Memory &memory, const nvdebug_mmu_leaf &leaf) {
    for (const u64 at : {u64{0}, leaf.size - 1}) {
        const nvdebug_walk w = walk(space, memory, leaf.va + at, 0);
        if (space.video_memory && w.state == NVDEBUG_WALK_BAD_TABLE)
            continue;
        FUZZ_REQUIRE(w.state == NVDEBUG_WALK_MAPPED || w.state == NVDEBUG_WALK_PEER);
        FUZZ_REQUIRE(w.addr == leaf.addr + at && w.aperture == leaf.aperture);
    }
}

void scan(const Space &space, const Memory &memory, u64 limit, FuzzedDataProvider &choices) {
    u32 budget = choices.ConsumeIntegralInRange<u32>(0, 500);
    const u32 more = choices.ConsumeIntegralInRange<u32>(0, 100);
    nvdebug_scan s;
    nvdebug_scan_start(&s, space.format, space.pdb, space.aperture, limit, space.video_memory,
                       budget);
    s.budget += more;
    budget += more;
    u64 addr;
    u8 aperture;
    u32 count;
    u32 reads = 0;
    while (nvdebug_scan_wants(&s, &addr, &aperture, &count)) {
        FUZZ_REQUIRE(is_aperture(aperture));
        FUZZ_REQUIRE(nvdebug_scan_run(&s) >= 1);
        const u64 before = s.va;
        nvdebug_mmu_leaf found;
        if (choices.remaining_bytes() && choices.ConsumeIntegral<u8>() % 16 == 0) {
            nvdebug_scan_skip(&s);
            FUZZ_REQUIRE(s.va > before);
            continue;
        }
        FUZZ_REQUIRE(++reads <= budget);
        if (nvdebug_scan_feed(&s, memory.read(addr, aperture, count).data(), &found)) {
            FUZZ_REQUIRE(found.va == before && found.size && found.size <= s.limit - found.va);
            FUZZ_REQUIRE(s.va > before);
            leaf(space, memory, found);
        }
        FUZZ_REQUIRE(s.va >= before);
    }
    FUZZ_REQUIRE(nvdebug_scan_at_end(&s) || !s.budget);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    FuzzedDataProvider input(data, size);
    Space space{};
    space.format = input.PickValueInArray(formats);
    space.aperture = input.ConsumeIntegralInRange<u8>(0, 3);
    space.pdb = input.ConsumeIntegral<u64>();
    if (input.ConsumeBool())
        space.pdb &= 0xfffff000;
    space.video_memory = input.ConsumeBool() ? 0 : u64{input.ConsumeIntegral<u32>()} << 8;
    const u64 va = input.ConsumeIntegral<u64>();
    const u64 limit = input.ConsumeBool() ? 0 : input.ConsumeIntegral<u64>();
    const std::vector<uint8_t> bytes = input.ConsumeBytes<uint8_t>(32);
    FuzzedDataProvider choices(bytes.data(), bytes.size());
    std::vector<u32> words = fuzz::all_words(input);
    words.push_back(0);
    const Memory memory(std::move(words));

    walk(space, memory, va, limit);
    scan(space, memory, limit, choices);
    return 0;
}
