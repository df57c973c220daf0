// SPDX-License-Identifier: MIT OR GPL-2.0
// Page tables: words of a driver, and the MMU's reading of them.
#include "random_space.hpp"
#include "support.hpp"

#include "mmu/address_space.hpp"
#include "mmu/decode.hpp"
#include "mmu/translate.hpp"

#include <random>
#include <set>
#include <sstream>

namespace nvmodel::test {
namespace {

using namespace nvmodel::mmu;

constexpr std::uint64_t video_bytes = 128 * gib;
constexpr std::uint64_t system_base = 0x4'0000'0000;
constexpr std::uint64_t system_bytes = 64 * mib;

constexpr Format v1_64k{.version = Version::v1, .big_page = 64 * kib};
constexpr Format v1_128k{.version = Version::v1, .big_page = 128 * kib};
constexpr Format v2_volta{.version = Version::v2};
constexpr Format v2_ampere{.version = Version::v2, .leaf_512m = true};
constexpr Format v3_hopper{.version = Version::v3, .leaf_512m = true};
constexpr Format v3_blackwell{.version = Version::v3, .leaf_512m = true, .leaf_256g = true};

constexpr PageAddress vid(std::uint64_t address) {
    return {PageAperture::video, address, 0};
}
constexpr PageAddress coh(std::uint64_t address) {
    return {PageAperture::coherent, address, 0};
}

/// Tables written by hand, word by word.
struct ByHand {
    Memory memory{video_bytes};
    FakeMemory low{0x1'f000'0000, 0x10000};
    FakeMemory high{0x40'5678'0000, 0x10000};

    explicit ByHand(bool v3 = false) { memory.attach(v3 ? &high : &low); }

    void put(std::uint64_t address, std::uint64_t word, Aperture aperture = Aperture::video) {
        EXPECT_TRUE(memory.write_value({aperture, address}, word, 8));
    }
};

// --- the worked examples of the hardware reference, section 3 ---

class Version1 : public testing::Test {
  protected:
    Walk walk(const Format &format = v1_128k) {
        return translate(hand.memory, format, {Aperture::video, 0x1c000000}, 0x01'2345'6789);
    }
    ByHand hand;
};

TEST_F(Version1, SmallPage) {
    hand.put(0x1c000120, 0x002468a100000000);
    hand.put(0x246a42b0, 0x00000000005a5a51);
    const auto page = walk().page;
    ASSERT_TRUE(page);
    EXPECT_EQ(page->at, vid(0x5a5a5789));
    EXPECT_EQ(page->page_size, small_page);
    hand.put(0x246a42b0, 0x0000000507123451);
    EXPECT_EQ(walk().page->at, coh(0x7'1234'5789));
    EXPECT_TRUE(walk().page->flags.uncached);
}

TEST_F(Version1, BigPage) {
    hand.put(0x1c000120, 0x002468a1002468c1);
    hand.put(0x2468cd10, 0x00000fe0005a5a01);
    hand.put(0x246a42b0, 0x0000000000111111);
    const auto page = walk().page;
    ASSERT_TRUE(page);
    EXPECT_EQ(page->at, vid(0x5a5b6789));
    EXPECT_EQ(page->page_size, 128 * kib);
    EXPECT_EQ(page->flags.kind, 0xfe);
    hand.put(0x2468cd10, 0);
    EXPECT_EQ(walk().page->at, vid(0x11111789)) << "without a big page the small one counts";
    hand.put(0x2468cd10, 0x2); // PRIVILEGE
    EXPECT_EQ(walk().why, Unmapped::page);
    hand.put(0x2468cd10, 0x1'0000'0000); // VOL
    EXPECT_EQ(walk().why, Unmapped::sparse);
}

TEST_F(Version1, Geometry64k) {
    hand.put(0x1c000000 + 8 * 0x48, 0x002468a1002468c1);
    hand.put(0x2468a000 + 8 * 0x3456, 0x5a5a51);
    EXPECT_EQ(walk(v1_64k).page->at, vid(0x5a5a5789));
    hand.put(0x2468c000 + 8 * 0x345, 0x5a5b01);
    EXPECT_EQ(walk(v1_64k).page->at, vid(0x5a5b6789));
    EXPECT_EQ(walk(v1_64k).page->page_size, 64 * kib);
}

TEST_F(Version1, DirectoryEntriesThatLeadNowhere) {
    EXPECT_EQ(walk().why, Unmapped::directory);
    hand.put(0x1c000120, 0x0000000800000000); // VOL_BIG alone
    EXPECT_EQ(walk().why, Unmapped::sparse);
    hand.put(0x1c000120, 0x002468a10000000c); // an eighth: 4096 entries, the index is 0x3456
    hand.put(0x246a42b0, 0x00000000005a5a51);
    EXPECT_EQ(walk().why, Unmapped::page);
    hand.put(0x1c000120, 0x002468a100000004); // half
    EXPECT_EQ(walk().page->at, vid(0x5a5a5789));
    EXPECT_EQ(translate(hand.memory, v1_128k, {Aperture::video, 0x1c000000}, 1ULL << 40).why,
              Unmapped::beyond);
}

class Version2 : public testing::Test {
  protected:
    Version2() {
        hand.put(0x2'0010'0010, 0x20010102);
        hand.put(0x2'0010'1468, 0x20010202);
        hand.put(0x2'0010'2158, 0x1f00030c);
        hand.put(0x1'f000'33c0, 0x20010412, Aperture::coherent);
        hand.put(0x1'f000'33c8, 0x20010502, Aperture::coherent);
        hand.put(0x2'0010'54d0, 0x7f65430d);
    }
    Walk walk(const Format &format = v2_volta) {
        return translate(hand.memory, format, {Aperture::video, 0x2'0010'0000}, 0x1'2345'6789'abcd);
    }
    void put_big(std::uint64_t word) { hand.put(0x2'0010'4148, word); }
    ByHand hand;
};

TEST_F(Version2, CaseABigPage) {
    put_big(0x0600000031234001);
    EXPECT_EQ(walk().page->at, vid(0x3'1234'abcd));
    EXPECT_EQ(walk().page->page_size, 64 * kib);
    EXPECT_EQ(walk().page->flags.kind, 6);
}

TEST_F(Version2, CaseBSmallPage) {
    EXPECT_EQ(walk().page->at, coh(0x7'f654'3bcd));
    EXPECT_EQ(walk().page->page_size, small_page);
    EXPECT_TRUE(walk().page->flags.uncached);
}

TEST_F(Version2, CaseCNoSmallPages) {
    put_big(0x20);
    EXPECT_FALSE(walk().page);
    EXPECT_EQ(walk().why, Unmapped::page);
}

TEST_F(Version2, CaseDSparse) {
    put_big(0x8);
    EXPECT_EQ(walk().why, Unmapped::sparse);
}

TEST_F(Version2, CaseEPageOf2Mib) {
    hand.put(0x1'f000'33c0, 0x34560001, Aperture::coherent);
    EXPECT_EQ(walk().page->at, vid(0x3'4569'abcd));
    EXPECT_EQ(walk().page->page_size, 2 * mib);
}

TEST_F(Version2, CaseFPageOf512Mib) {
    hand.put(0x2'0010'2158, 0x0600000028000001);
    EXPECT_EQ(walk(v2_ampere).page->at, vid(0x2'8789'abcd));
    EXPECT_EQ(walk(v2_ampere).page->page_size, 512 * mib);
    EXPECT_EQ(walk(v2_volta).why, Unmapped::directory) << "older chips have no such page";
}

TEST_F(Version2, SparseDirectoriesAndHoles) {
    hand.put(0x1'f000'33c0, 0x8, Aperture::coherent);
    hand.put(0x1'f000'33c8, 0, Aperture::coherent);
    EXPECT_EQ(walk().why, Unmapped::sparse);
    hand.put(0x1'f000'33c0, 0, Aperture::coherent);
    EXPECT_EQ(walk().why, Unmapped::directory);
    hand.put(0x2'0010'2158, 0x30'0000'030c); // there is no memory
    EXPECT_EQ(walk().why, Unmapped::memory);
    hand.put(0x2'0010'2158, 0x8);
    EXPECT_EQ(walk().why, Unmapped::sparse);
    EXPECT_EQ(translate(hand.memory, v2_volta, {}, 1ULL << 49).why, Unmapped::beyond);
}

class Version3 : public testing::Test {
  protected:
    Version3() {
        hand.put(0x12'3400'0008, 0x1234001012);
        hand.put(0x12'3400'1230, 0x1234002012);
        hand.put(0x12'3400'28a8, 0x1234003012);
        hand.put(0x12'3400'39e0, 0x405678901c);
        hand.put(0x40'5678'94d0, 0x1234005312, Aperture::coherent);
        hand.put(0x40'5678'94d8, 0x1234006012, Aperture::coherent);
        hand.put(0x12'3400'65e0, 0x1357924681);
    }
    Walk walk(const Format &format = v3_hopper) {
        return translate(hand.memory, format, {Aperture::video, 0x12'3400'0000},
                         0x0123'4567'89ab'cdef);
    }
    void put_big(std::uint64_t word) { hand.put(0x12'3400'5358, word); }
    ByHand hand{true};
};

TEST_F(Version3, CaseABigPage) {
    put_big(0x1357930681);
    EXPECT_EQ(walk().page->at, vid(0x13'5793'cdef));
    EXPECT_EQ(walk().page->flags, (PageFlags{.no_access_counting = true, .kind = 6}));
}

TEST_F(Version3, CaseBSmallPage) {
    EXPECT_EQ(walk().page->at, vid(0x13'5792'4def));
}

TEST_F(Version3, CaseCSystemMemory) {
    hand.put(0x12'3400'65e0, 0x7f1234500d);
    EXPECT_EQ(walk().page->at, coh(0x7f'1234'5def));
    EXPECT_TRUE(walk().page->flags.uncached);
}

TEST_F(Version3, CaseDNoSmallPages) {
    put_big(0x18);
    EXPECT_EQ(walk().why, Unmapped::page);
    put_big(0x10); // MAPPING_NOWHERE
    EXPECT_EQ(walk().why, Unmapped::page);
}

TEST_F(Version3, CaseESparse) {
    put_big(0x8);
    EXPECT_EQ(walk().why, Unmapped::sparse);
    hand.put(0x12'3400'39e0, 0x18);
    EXPECT_EQ(walk().why, Unmapped::sparse);
    hand.put(0x12'3400'39e0, 0x10); // PCF 2 without an aperture
    EXPECT_EQ(walk().why, Unmapped::directory);
}

TEST_F(Version3, CaseFPageOf2Mib) {
    hand.put(0x40'5678'94d0, 0x1360200681, Aperture::coherent);
    EXPECT_EQ(walk().page->at, vid(0x13'602b'cdef));
}

TEST_F(Version3, CaseGPageOf512Mib) {
    hand.put(0x12'3400'39e0, 0x1420000681);
    EXPECT_EQ(walk().page->at, vid(0x14'29ab'cdef));
}

TEST_F(Version3, CaseHPageOf256Gib) {
    hand.put(0x12'3400'28a8, 0x800000000d);
    EXPECT_EQ(walk(v3_blackwell).page->at, coh(0xa7'89ab'cdef));
    EXPECT_EQ(walk(v3_blackwell).page->page_size, 256 * gib);
    EXPECT_EQ(walk(v3_hopper).why, Unmapped::directory);
}

// --- the driver's words ---

TEST(Encoding, WordsOfTheExamples) {
    const PhysicalAddress small{Aperture::video, 0x2468a000};
    const PhysicalAddress big{Aperture::video, 0x2468c000};
    EXPECT_EQ(encode_dual(Version::v1, {{}, small}, {})[0], 0x002468a100000000U);
    EXPECT_EQ(encode_dual(Version::v1, {big, small}, {})[0], 0x002468a1002468c1U);
    EXPECT_EQ(encode_dual(Version::v1, {{}, small, 3}, {})[0], 0x002468a10000000cU);
    EXPECT_EQ(encode_page(Version::v1, vid(0x5a5a0000), {.kind = 0xfe}), 0x00000fe0005a5a01U);
    EXPECT_EQ(encode_page(Version::v1, coh(0x7'1234'5000), {.uncached = true}),
              0x0000000507123451U);

    EXPECT_EQ(encode_directory(Version::v2, {Aperture::video, 0x2'0010'1000}, {}), 0x20010102U);
    EXPECT_EQ(encode_directory(Version::v2, {Aperture::coherent, 0x1'f000'3000}, {}), 0x1f00030cU);
    const DualTables v2{PhysicalAddress{Aperture::video, 0x2'0010'4100},
                        PhysicalAddress{Aperture::video, 0x2'0010'5000}};
    EXPECT_EQ(encode_dual(Version::v2, v2, {}), (DualWords{0x20010412, 0x20010502}));
    EXPECT_EQ(encode_page(Version::v2, vid(0x3'1234'0000), {.kind = 6}), 0x0600000031234001U);
    EXPECT_EQ(encode_page(Version::v2, coh(0x7'f654'3000), {.uncached = true}), 0x7f65430dU);
    EXPECT_EQ(encode_no_small_pages(Version::v2), 0x20U);
    EXPECT_EQ(encode_sparse_page(Version::v2), 0x8U);

    EXPECT_EQ(encode_directory(Version::v3, {Aperture::video, 0x12'3400'1000}, {}), 0x1234001012U);
    EXPECT_EQ(encode_directory(Version::v3, {Aperture::coherent, 0x40'5678'9000}, {}),
              0x405678901cU);
    const DualTables v3{PhysicalAddress{Aperture::video, 0x12'3400'5300},
                        PhysicalAddress{Aperture::video, 0x12'3400'6000}};
    EXPECT_EQ(encode_dual(Version::v3, v3, {}), (DualWords{0x1234005312, 0x1234006012}));
    EXPECT_EQ(
        encode_page(Version::v3, vid(0x13'5793'0000), {.no_access_counting = true, .kind = 6}),
        0x1357930681U);
    EXPECT_EQ(encode_page(Version::v3, {PageAperture::peer, 0x2'2468'a000, 5},
                          {.no_access_counting = true}),
              0xa00000022468a083U);
    EXPECT_EQ(encode_no_small_pages(Version::v3), 0x18U);
    EXPECT_EQ(encode_sparse_page(Version::v3), 0x8U);
    EXPECT_EQ(encode_sparse_directory(Version::v3, {}), 0x18U);
    EXPECT_EQ(encode_sparse_directory(Version::v3, {.ats = true}), 0x08U);
}

// --- driver against MMU ---

struct NamedFormat {
    const char *name;
    Format format;
};

void PrintTo(const NamedFormat &format, std::ostream *out) {
    *out << format.name;
}

class AddressSpaces : public testing::TestWithParam<NamedFormat> {
  protected:
    AddressSpaces() { memory_.attach(&guest_); }

    TakeMemory pool(Aperture aperture) {
        return [this, aperture](std::uint64_t size, std::uint64_t alignment) {
            std::uint64_t &next = aperture == Aperture::video ? next_video_ : next_system_;
            const std::uint64_t at = align_up(next, alignment);
            next = at + size;
            return PhysicalAddress{aperture, at};
        };
    }

    [[nodiscard]] const Format &format() const { return GetParam().format; }

    Memory memory_{video_bytes};
    FakeMemory guest_{system_base, system_bytes};
    std::uint64_t next_video_ = 0x1f'0000'0000;
    std::uint64_t next_system_ = system_base;
};

constexpr std::array apertures{Aperture::video, Aperture::coherent, Aperture::noncoherent};

TEST_P(AddressSpaces, TheMmuFindsWhatTheDriverMapped) {
    std::mt19937_64 random(0x5eed);
    for (unsigned round = 0; round < 1000; ++round) {
        next_system_ = system_base;
        const AddressSpace::Options options{
            .flags = {.uncached = random() % 2 == 0, .ats = random() % 2 == 0},
            .partial_tables = random() % 2 == 0};
        AddressSpace space(memory_, format(), pool(apertures[random() % 3]),
                           pool(apertures[random() % 3]), options);
        RandomSpace filled(random, space);
        filled.fill(20);
        for (const auto &[va, mapping] : space.mappings()) {
            const std::uint64_t offset = random() % mapping.page_size;
            const auto page = translate(memory_, format(), space.root(), va + offset).page;
            ASSERT_TRUE(page) << "round " << round << std::hex << " va " << va;
            PageAddress expected = mapping.at;
            expected.address += offset;
            EXPECT_EQ(page->at, expected);
            EXPECT_EQ(page->page_size, mapping.page_size);
            EXPECT_EQ(page->flags, mapping.flags);
            const std::uint64_t after = va + mapping.page_size;
            if (after >> format().va_bits() == 0 && space.is_free(after, small_page)) {
                EXPECT_FALSE(translate(memory_, format(), space.root(), after).page);
            }
        }
        for (const std::uint64_t hole : filled.holes())
            EXPECT_FALSE(translate(memory_, format(), space.root(), hole).page);
    }
}

TEST_P(AddressSpaces, LeavesAreExactlyTheMappings) {
    std::mt19937_64 random(0xabcde);
    for (unsigned round = 0; round < 100; ++round) {
        next_system_ = system_base;
        AddressSpace space(memory_, format(), pool(apertures[random() % 3]),
                           pool(apertures[random() % 3]),
                           {.flags = {}, .partial_tables = random() % 2 == 0});
        RandomSpace(random, space).fill(20);
        auto next = space.mappings().begin();
        leaves(memory_, format(), space.root(), [&](const Leaf &leaf) {
            if (next == space.mappings().end()) {
                ADD_FAILURE() << "more than was mapped, at " << std::hex << leaf.va;
                return false;
            }
            EXPECT_EQ(leaf.va, next->first);
            EXPECT_EQ((Mapping{leaf.page_size, leaf.at, leaf.flags}), next->second);
            ++next;
            return true;
        });
        EXPECT_EQ(next, space.mappings().end()) << "round " << round;
    }
}

TEST_P(AddressSpaces, BothEndsOfTheRange) {
    AddressSpace space(memory_, format(), pool(Aperture::video));
    const std::uint64_t last = (1ULL << format().va_bits()) - small_page;
    space.map(0, small_page, vid(0x1000));
    space.map(last, small_page, vid(0x2000));
    EXPECT_EQ(translate(memory_, format(), space.root(), 0xfff).page->at, vid(0x1fff));
    EXPECT_EQ(translate(memory_, format(), space.root(), last + 0xfff).page->at, vid(0x2fff));
    EXPECT_EQ(translate(memory_, format(), space.root(), last + 0x1000).why, Unmapped::beyond);
}

TEST_P(AddressSpaces, ListTheirTables) {
    AddressSpace space(memory_, format(), pool(Aperture::video));
    const std::uint64_t begin = next_video_;
    space.map(0x12340000, small_page, vid(0x1000));
    space.map(0x12340000 + format().big_page, format().big_page, vid(0));
    std::uint64_t listed = 0;
    for (const TableMemory &table : space.tables())
        listed += table.size;
    const bool shares_pages = format().version != Version::v1;
    EXPECT_EQ(listed,
              next_video_ - begin +
                  (format().root().entries > 512 ? 8ULL * format().root().entries : small_page) -
                  (shares_pages ? small_page - 256 : 0));
}

TEST_P(AddressSpaces, ImpossibleMappingsAreRefused) {
    AddressSpace space(memory_, format(), pool(Aperture::video));
    space.map(0x200000, small_page, vid(0));
    EXPECT_EQ(config_error([&] { space.map(0x200000, small_page, vid(0)); }),
              "virtual address 0x200000 is in use");
    EXPECT_EQ(config_error([&] { space.map(0x200000, format().big_page, vid(0)); }),
              "virtual address 0x200000 is in use");
    EXPECT_EQ(config_error([&] { space.map(0x300800, small_page, vid(0)); }),
              "virtual address 0x300800 is not a multiple of its page's size");
    EXPECT_EQ(config_error([&] { space.map(0x300000, 8 * kib, vid(0)); }),
              "virtual address 0x300000 cannot have a page of 8192 bytes");
    EXPECT_EQ(config_error([&] { space.map(0x300000, small_page, vid(0x800)); }),
              "virtual address 0x300000 cannot lead to an address that is not a multiple of its "
              "page's size");
    EXPECT_THROW(space.map(1ULL << format().va_bits(), small_page, vid(0)), ConfigError);
}

INSTANTIATE_TEST_SUITE_P(
    Formats, AddressSpaces,
    testing::Values(NamedFormat{"v1_64k", v1_64k}, NamedFormat{"v1_128k", v1_128k},
                    NamedFormat{"v2", v2_volta}, NamedFormat{"v2_512m", v2_ampere},
                    NamedFormat{"v3_512m", v3_hopper}, NamedFormat{"v3_256g", v3_blackwell}),
    [](const auto &each) { return each.param.name; });

TEST(AddressSpaceTables, BigTablesOfVersions2And3AreOffPageBoundaries) {
    Memory memory(video_bytes);
    std::uint64_t next = 0;
    AddressSpace space(memory, v2_volta, [&](std::uint64_t size, std::uint64_t alignment) {
        next = align_up(next, alignment) + size;
        return PhysicalAddress{Aperture::video, next - size};
    });
    for (unsigned i = 0; i < 16; ++i)
        space.map(i * 2 * mib, 64 * kib, vid(0));
    unsigned small_tables = 0;
    for (const TableMemory &table : space.tables())
        if (table.size == 256) {
            ++small_tables;
            EXPECT_NE(table.at.address % 0x1000, 0U);
        }
    EXPECT_EQ(small_tables, 16U);
}

TEST(AddressSpaceTables, Version1GrowsItsTables) {
    Memory memory(video_bytes);
    std::uint64_t next = 0;
    const TakeMemory take = [&](std::uint64_t size, std::uint64_t alignment) {
        next = align_up(next, alignment) + size;
        return PhysicalAddress{Aperture::video, next - size};
    };
    AddressSpace space(memory, v1_64k, take, take, {.flags = {}, .partial_tables = true});
    space.map(0, small_page, vid(0x1000));
    EXPECT_EQ(*memory.read_value(space.root(), 8) & 0xc, 0xcU) << "an eighth";
    space.map(8 * mib, small_page, vid(0x2000));
    EXPECT_EQ(*memory.read_value(space.root(), 8) & 0xc, 0x8U) << "a quarter";
    space.map(63 * mib, 64 * kib, vid(0x10000));
    EXPECT_EQ(*memory.read_value(space.root(), 8) & 0xc, 0U);
    EXPECT_EQ(translate(memory, v1_64k, space.root(), 0).page->at, vid(0x1000));
    EXPECT_EQ(translate(memory, v1_64k, space.root(), 8 * mib).page->at, vid(0x2000));
    EXPECT_EQ(translate(memory, v1_64k, space.root(), 63 * mib).page->at, vid(0x10000));
}

} // namespace
} // namespace nvmodel::test
