// SPDX-License-Identifier: MIT OR GPL-2.0
// The module's walker reads page tables that the model's driver has built, and is compared with the
// model's own MMU. Both were written from the manuals, independently of each other.
#include "random_space.hpp"
#include "support.hpp"

#include "mmu/translate.hpp"

#include "decode/mmu.h"
#include "hw/ram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <random>
#include <sstream>

namespace nvmodel::test {
namespace {

constexpr std::uint64_t video_bytes = 128 * mmu::gib;
constexpr std::uint64_t system_base = 0x4'0000'0000;
constexpr std::uint64_t system_bytes = 64 * mmu::mib;
constexpr unsigned spaces = 2000; // per format
constexpr unsigned pieces = 20;
constexpr std::array apertures{Aperture::video, Aperture::coherent, Aperture::noncoherent};

struct Pair {
    const char *name;
    mmu::Format model;
    const nvdebug_mmu_format *module;
};

void PrintTo(const Pair &pair, std::ostream *out) {
    *out << pair.name;
}

/// Reads the words that a walk or scan wants. Returns false if there is no memory.
bool read(const Memory &memory, std::uint64_t addr, std::uint8_t aperture, std::uint32_t words,
          std::uint32_t *to) {
    return memory.read_words({static_cast<Aperture>(aperture), addr}, {to, words});
}

nvdebug_walk walk(const Memory &memory, const nvdebug_mmu_format *format, PhysicalAddress root,
                  std::uint64_t va) {
    nvdebug_walk w;
    nvdebug_walk_start(&w, format, root.address, static_cast<u8>(root.aperture), va);
    nvdebug_walk_limit(&w, video_bytes, 0);
    u64 addr = 0;
    u8 aperture = 0;
    u32 words = 0;
    while (nvdebug_walk_wants(&w, &addr, &aperture, &words)) {
        std::array<u32, NVDEBUG_MMU_ENTRY_WORDS> entry{};
        EXPECT_TRUE(read(memory, addr, aperture, words, entry.data()));
        nvdebug_walk_feed(&w, entry.data());
    }
    return w;
}

std::vector<nvdebug_mmu_leaf> scan(const Memory &memory, const nvdebug_mmu_format *format,
                                   PhysicalAddress root) {
    std::vector<nvdebug_mmu_leaf> found;
    nvdebug_scan s;
    nvdebug_scan_start(&s, format, root.address, static_cast<u8>(root.aperture), 0, video_bytes,
                       10'000'000);
    u64 addr = 0;
    u8 aperture = 0;
    u32 words = 0;
    while (nvdebug_scan_wants(&s, &addr, &aperture, &words)) {
        std::array<u32, NVDEBUG_MMU_ENTRY_WORDS> entry{};
        nvdebug_mmu_leaf leaf;
        EXPECT_TRUE(read(memory, addr, aperture, words, entry.data()));
        if (nvdebug_scan_feed(&s, entry.data(), &leaf))
            found.push_back(leaf);
    }
    EXPECT_TRUE(nvdebug_scan_at_end(&s));
    return found;
}

/// Checks that both give the same result for the address.
void expect_agreement(const nvdebug_walk &module, const mmu::Walk &model) {
    std::ostringstream steps;
    for (unsigned i = 0; i < module.steps; ++i)
        steps << ' ' << module.step[i].level->name << ' ' << std::hex << module.step[i].raw[0]
              << ' ' << module.step[i].raw[1];
    SCOPED_TRACE(steps.str());
    if (!model.page) {
        EXPECT_NE(module.state, NVDEBUG_WALK_MAPPED);
        EXPECT_NE(module.state, NVDEBUG_WALK_PEER);
        EXPECT_NE(module.state, NVDEBUG_WALK_GOING);
        EXPECT_EQ(module.state == NVDEBUG_WALK_SPARSE, model.why == mmu::Unmapped::sparse);
        return;
    }
    const bool peer = model.page->at.aperture == mmu::PageAperture::peer;
    ASSERT_EQ(module.state, peer ? NVDEBUG_WALK_PEER : NVDEBUG_WALK_MAPPED);
    EXPECT_EQ(module.addr, model.page->at.address);
    EXPECT_EQ(module.aperture, static_cast<u8>(model.page->at.aperture));
    EXPECT_EQ(module.page_size, model.page->page_size);
    if (peer) {
        EXPECT_EQ(module.peer, model.page->at.peer);
    }
    const mmu::PageFlags &flags = model.page->flags;
    EXPECT_EQ(bool(module.flags & NVDEBUG_PAGE_VOLATILE), flags.uncached);
    EXPECT_EQ(bool(module.flags & NVDEBUG_PAGE_PRIVILEGED), flags.privileged);
    EXPECT_EQ(bool(module.flags & NVDEBUG_PAGE_READ_ONLY), flags.read_only);
    EXPECT_EQ(bool(module.flags & NVDEBUG_PAGE_NO_ATOMICS), flags.no_atomics);
    EXPECT_EQ(module.kind, flags.kind);
}

class PageTables : public testing::TestWithParam<Pair> {
  protected:
    PageTables() { memory_.attach(&guest_); }

    mmu::TakeMemory pool(Aperture aperture) {
        return [this, aperture](std::uint64_t size, std::uint64_t alignment) {
            std::uint64_t &next = aperture == Aperture::video ? next_video_ : next_system_;
            const std::uint64_t at = (next + alignment - 1) / alignment * alignment;
            next = at + size;
            return PhysicalAddress{aperture, at};
        };
    }

    mmu::AddressSpace any_space() {
        next_system_ = system_base;
        return {memory_,
                GetParam().model,
                pool(apertures[random_() % 3]),
                pool(apertures[random_() % 3]),
                {.flags = {.uncached = random_() % 2 == 0, .ats = random_() % 2 == 0},
                 .partial_tables = random_() % 2 == 0}};
    }

    void compare_at(const mmu::AddressSpace &space, std::uint64_t va) {
        expect_agreement(walk(memory_, GetParam().module, space.root(), va),
                         mmu::translate(memory_, GetParam().model, space.root(), va));
    }

    std::mt19937_64 random_{0xc0ffee};
    Memory memory_{video_bytes};
    FakeMemory guest_{system_base, system_bytes};
    std::uint64_t next_video_ = 0x10'0000'0000;
    std::uint64_t next_system_ = system_base;
};

TEST_P(PageTables, WalksAgreeWithTheModelsTranslation) {
    const std::uint64_t top = 1ULL << GetParam().model.va_bits();
    for (unsigned round = 0; round < spaces; ++round) {
        SCOPED_TRACE(round);
        mmu::AddressSpace space = any_space();
        RandomSpace filled(random_, space);
        filled.fill(pieces);
        for (const auto &[va, mapping] : space.mappings()) {
            const std::uint64_t offset = random_() % mapping.page_size;
            const nvdebug_walk found = walk(memory_, GetParam().module, space.root(), va + offset);
            EXPECT_EQ(found.addr, mapping.at.address + offset);
            EXPECT_EQ(found.page_size, mapping.page_size);
            compare_at(space, va + offset);
            if (va + mapping.page_size < top)
                compare_at(space, va + mapping.page_size);
            if (va != 0)
                compare_at(space, va - 1);
            compare_at(space, va ^ (1ULL << random_() % GetParam().model.va_bits()));
        }
        for (const std::uint64_t hole : filled.holes())
            compare_at(space, hole);
        ASSERT_FALSE(HasFailure());
    }
}

TEST_P(PageTables, ScansFindEveryPageAndNoOther) {
    for (unsigned round = 0; round < spaces / 2; ++round) {
        SCOPED_TRACE(round);
        mmu::AddressSpace space = any_space();
        RandomSpace(random_, space).fill(pieces);
        const auto found = scan(memory_, GetParam().module, space.root());
        ASSERT_EQ(found.size(), space.mappings().size());
        auto next = space.mappings().begin();
        for (const nvdebug_mmu_leaf &leaf : found) {
            EXPECT_EQ(leaf.va, next->first);
            EXPECT_EQ(leaf.size, next->second.page_size);
            EXPECT_EQ(leaf.addr, next->second.at.address);
            EXPECT_EQ(leaf.aperture, static_cast<u8>(next->second.at.aperture));
            ++next;
        }
        ASSERT_FALSE(HasFailure());
    }
}

/// Returns a bit of an entry to flip. It has a meaning whatever the other bits are. In version 3,
/// bits 7:5 are left out, because codes that are undefined for invalid entries (PCF above 3) may be
/// read either way.
unsigned any_bit(std::mt19937_64 &random, mmu::Version version) {
    const auto bit = static_cast<unsigned>(random() % 64);
    return version == mmu::Version::v3 && bit >= 5 && bit <= 7 ? 0 : bit;
}

/// Returns true if an entry calls itself a page in a directory that cannot have pages. The module
/// and the model may read such an entry differently.
bool says_page_where_none_can_be(const nvdebug_walk &w) {
    return std::any_of(w.step, w.step + w.steps, [](const nvdebug_walk_step &step) {
        return step.entry.meaning == NVDEBUG_MMU_TABLE && (step.raw[0] & 1) != 0;
    });
}

/// Bits are flipped in the tables. Whatever the tables mean then, both walks end, and agree.
TEST_P(PageTables, AgreeOnDamagedTables) {
    for (unsigned round = 0; round < spaces; ++round) {
        SCOPED_TRACE(round);
        mmu::AddressSpace space = any_space();
        RandomSpace(random_, space).fill(pieces);
        const auto tables = space.tables();
        for (unsigned flip = 0; flip < 20; ++flip) {
            const mmu::TableMemory &table = tables[random_() % tables.size()];
            PhysicalAddress at = table.at;
            at.address += random_() % table.size / 8 * 8;
            const auto word = memory_.read_value(at, 8);
            ASSERT_TRUE(word);
            ASSERT_TRUE(memory_.write_value(
                at, *word ^ 1ULL << any_bit(random_, GetParam().model.version), 8));
        }
        for (const auto &[va, mapping] : space.mappings()) {
            nvdebug_walk w;
            nvdebug_walk_start(&w, GetParam().module, space.root().address,
                               static_cast<u8>(space.root().aperture), va);
            nvdebug_walk_limit(&w, video_bytes, 0);
            u64 addr = 0;
            u8 aperture = 0;
            u32 words = 0;
            bool readable = true;
            while (readable && nvdebug_walk_wants(&w, &addr, &aperture, &words)) {
                std::array<u32, NVDEBUG_MMU_ENTRY_WORDS> entry{};
                readable = read(memory_, addr, aperture, words, entry.data());
                nvdebug_walk_feed(&w, entry.data());
            }
            const mmu::Walk model = mmu::translate(memory_, GetParam().model, space.root(), va);
            if (says_page_where_none_can_be(w))
                continue;
            if (!readable || (!model.page && model.why == mmu::Unmapped::memory))
                EXPECT_FALSE(model.page);
            else
                expect_agreement(w, model);
        }
        ASSERT_FALSE(HasFailure());
    }
}

INSTANTIATE_TEST_SUITE_P(
    , PageTables,
    testing::Values(
        Pair{"V1Big64K", {.version = mmu::Version::v1}, &nvdebug_mmu_gk104_64k},
        Pair{"V1Big128K",
             {.version = mmu::Version::v1, .big_page = 128 * mmu::kib},
             &nvdebug_mmu_gk104_128k},
        Pair{"V2Pascal", {.version = mmu::Version::v2}, &nvdebug_mmu_gp100},
        Pair{"V2Turing", {.version = mmu::Version::v2}, &nvdebug_mmu_tu102},
        Pair{"V2Ampere", {.version = mmu::Version::v2, .leaf_512m = true}, &nvdebug_mmu_ga100},
        Pair{"V3Hopper", {.version = mmu::Version::v3, .leaf_512m = true}, &nvdebug_mmu_gh100},
        Pair{"V3Blackwell",
             {.version = mmu::Version::v3, .leaf_512m = true, .leaf_256g = true},
             &nvdebug_mmu_gb100}),
    [](const auto &test) { return std::string(test.param.name); });

} // namespace
} // namespace nvmodel::test
