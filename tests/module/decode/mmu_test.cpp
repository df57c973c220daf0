// SPDX-License-Identifier: MIT OR GPL-2.0
// Page tables: walks with every entry worked out by hand from NVIDIA's manuals and headers.
#include "page_tables.hpp"

namespace {

using namespace page_tables;

// --- version 1 ---

constexpr u64 VA1 = 0x0123456789;

TEST(Version1, SmallPage) {
    Memory m;
    m.set(VID, 0x1C000120, 0x002468A100000000);
    m.set(VID, 0x246A42B0, 0x00000000005A5A51);
    const auto w = walk(m, {&nvdebug_mmu_gk104_128k, 0x1C000000}, VA1);
    expect_page(w, VID, 0x5A5A5789, 4 * KIB);
    EXPECT_EQ(w.flags, 0);
    EXPECT_EQ(w.kind, 0);
    ASSERT_EQ(w.steps, 2);
    expect_step(w, 0, "PD0", 0x24, VID, 0x1C000120);
    EXPECT_EQ(w.step[0].words, 2);
    EXPECT_EQ(w.step[0].entry.meaning, NVDEBUG_MMU_DUAL);
    EXPECT_FALSE(w.step[0].entry.table.present);
    EXPECT_EQ(w.step[0].entry.small.addr, 0x2468A000u);
    expect_step(w, 1, "PT4K", 0x3456, VID, 0x246A42B0);
    EXPECT_EQ(w.step[1].raw[0], 0x5A5A51u);
}

TEST(Version1, SmallPageInSystemMemory) {
    Memory m;
    m.set(VID, 0x1C000120, 0x002468A100000000);
    m.set(VID, 0x246A42B0, 0x0000000507123451);
    const auto w = walk(m, {&nvdebug_mmu_gk104_128k, 0x1C000000}, VA1);
    expect_page(w, COH, 0x712345789, 4 * KIB);
    EXPECT_EQ(w.flags, NVDEBUG_PAGE_VOLATILE);
}

TEST(Version1, BigBeforeSmall) {
    Memory m;
    m.set(VID, 0x1C000120, 0x002468A1002468C1);
    m.set(VID, 0x2468CD10, 0x00000FE0005A5A01);
    m.set(VID, 0x246A42B0, 0x0000000000777771); // would be valid too
    const auto w = walk(m, {&nvdebug_mmu_gk104_128k, 0x1C000000}, VA1);
    expect_page(w, VID, 0x5A5B6789, 128 * KIB);
    EXPECT_EQ(w.kind, 0xFE);
    ASSERT_EQ(w.steps, 2);
    expect_step(w, 1, "PT128K", 0x1A2, VID, 0x2468CD10);
}

TEST(Version1, InvalidBigLeadsToSmall) {
    Memory m;
    m.set(VID, 0x1C000120, 0x002468A1002468C1);
    m.set(VID, 0x246A42B0, 0x00000000005A5A51);
    const auto w = walk(m, {&nvdebug_mmu_gk104_128k, 0x1C000000}, VA1);
    expect_page(w, VID, 0x5A5A5789, 4 * KIB);
    EXPECT_EQ(w.steps, 3);
}

TEST(Version1, InvalidBigWithPrivilegeForbidsSmall) {
    Memory m;
    m.set(VID, 0x1C000120, 0x002468A1002468C1);
    m.set(VID, 0x2468CD10, 0x0000000000000002);
    m.set(VID, 0x246A42B0, 0x00000000005A5A51);
    EXPECT_EQ(walk(m, {&nvdebug_mmu_gk104_128k, 0x1C000000}, VA1).state, NVDEBUG_WALK_NO_SMALL);
    m.set(VID, 0x2468CD10, 0x0000000100000000);
    EXPECT_EQ(walk(m, {&nvdebug_mmu_gk104_128k, 0x1C000000}, VA1).state, NVDEBUG_WALK_SPARSE);
}

TEST(Version1, Geometry64k) {
    Memory m;
    m.set(VID, 0x1C000000 + 8 * 0x48, 0x002468A3002468C2); // big coh, small ncoh
    const auto w = walk(m, {&nvdebug_mmu_gk104_64k, 0x1C000000}, VA1);
    EXPECT_EQ(w.state, NVDEBUG_WALK_INVALID);
    ASSERT_EQ(w.steps, 3);
    expect_step(w, 0, "PD0", 0x48, VID, 0x1C000240);
    expect_step(w, 1, "PT64K", 0x345, COH, 0x2468C000 + 8 * 0x345);
    expect_step(w, 2, "PT4K", 0x3456, NCOH, 0x2468A000 + 8 * 0x3456);
}

// The words have the end bits of each field, and ones in the bits beside the field.
TEST(Version1, FieldsAmongOnes) {
    Memory m;
    // big: vid, address bits 28:4; small: ncoh, all of 31:4
    m.set(VID, 0x1C000240, 0xFFFFFFFF'FFFFFFF1);
    auto w = walk(m, {&nvdebug_mmu_gk104_64k, 0x1C000000}, VA1);
    EXPECT_EQ(w.step[0].entry.table.addr, 0x1FFFFFF000u);
    EXPECT_EQ(w.step[0].entry.table.aperture, VID);
    EXPECT_EQ(w.step[0].entry.small.addr, 0xFFFFFFF000u);
    EXPECT_EQ(w.step[0].entry.small.aperture, NCOH);

    m.set(VID, 0x1C000240, 0x002468A100000000);
    const u64 pte = 0x2468A000 + 8 * 0x3456;
    m.set(VID, pte, 0xFFFFFFFB'FFFFFFFF); // peer 7: all but aperture bit 34
    w = walk(m, {&nvdebug_mmu_gk104_64k, 0x1C000000}, VA1);
    EXPECT_EQ(w.state, NVDEBUG_WALK_PEER);
    EXPECT_EQ(w.peer, 7);
    EXPECT_EQ(w.aperture, NVDEBUG_APERTURE_PEER);
    EXPECT_EQ(w.addr, 0x1FFFFFF789u);
    EXPECT_EQ(w.kind, 0xFF);
    EXPECT_EQ(w.flags, NVDEBUG_PAGE_PRIVILEGED | NVDEBUG_PAGE_READ_ONLY | NVDEBUG_PAGE_VOLATILE);
    m.set(VID, pte, 0x00001001'00000011);
    w = walk(m, {&nvdebug_mmu_gk104_64k, 0x1C000000}, VA1);
    EXPECT_EQ(w.flags, NVDEBUG_PAGE_VOLATILE | NVDEBUG_PAGE_COMPRESSED);
}

TEST(Version1, SparseDirectoryEntry) {
    Memory m;
    m.set(VID, 0x1C000120, 0x0000000800000000);
    EXPECT_EQ(walk(m, {&nvdebug_mmu_gk104_128k, 0x1C000000}, VA1).state, NVDEBUG_WALK_SPARSE);
    m.set(VID, 0x1C000120, 0x0000000400000000); // VOL_SMALL means nothing by itself
    EXPECT_EQ(walk(m, {&nvdebug_mmu_gk104_128k, 0x1C000000}, VA1).state, NVDEBUG_WALK_INVALID);
}

TEST(Version1, ReducedTables) {
    Memory m;
    // 1/8 of 64 MiB: 8 MiB of small pages
    m.set(VID, 0x1C000000, 0x002468A1'0000000C);
    m.set(VID, 0x2468A000 + 8 * 0x7FF, 0x11);
    m.set(VID, 0x2468A000 + 8 * 0x800, 0x11);
    const Root root{&nvdebug_mmu_gk104_64k, 0x1C000000};
    EXPECT_EQ(walk(m, root, 8 * MIB - 1).state, NVDEBUG_WALK_MAPPED);
    const auto w = walk(m, root, 8 * MIB);
    EXPECT_EQ(w.state, NVDEBUG_WALK_INVALID);
    EXPECT_EQ(w.steps, 1);
}

// --- version 2 ---

TEST(Version2, CaseABigPage) {
    Memory m = version2();
    m.set(VID, 0x200104148, 0x0600000031234001);
    m.set(VID, 0x2001054D0, 0x000000007F65430D);
    const auto w = walk(m, {&nvdebug_mmu_gp100, PDB2}, VA2);
    expect_page(w, VID, 0x31234ABCD, 64 * KIB);
    EXPECT_EQ(w.kind, 6);
    EXPECT_EQ(w.flags, 0);
    ASSERT_EQ(w.steps, 5);
    expect_step(w, 0, "PD3", 2, VID, 0x200100010);
    expect_step(w, 1, "PD2", 0x8D, VID, 0x200101468);
    expect_step(w, 2, "PD1", 0x2B, VID, 0x200102158);
    expect_step(w, 3, "PD0", 0x3C, COH, 0x1F00033C0);
    expect_step(w, 4, "PT64K", 9, VID, 0x200104148);
    EXPECT_EQ(w.step[3].words, 4);
    EXPECT_EQ(w.step[3].raw[0], 0x20010412u);
    EXPECT_EQ(w.step[3].raw[1], 0x20010502u);
    EXPECT_EQ(w.step[2].entry.meaning, NVDEBUG_MMU_TABLE);
    EXPECT_EQ(w.step[2].entry.table.addr, 0x1F0003000u);
    EXPECT_EQ(w.step[2].entry.table.aperture, COH);
}

TEST(Version2, CaseBSmallPage) {
    Memory m = version2();
    m.set(VID, 0x2001054D0, 0x000000007F65430D);
    const auto w = walk(m, {&nvdebug_mmu_gp100, PDB2}, VA2);
    expect_page(w, COH, 0x7F6543BCD, 4 * KIB);
    EXPECT_EQ(w.flags, NVDEBUG_PAGE_VOLATILE);
    ASSERT_EQ(w.steps, 6);
    expect_step(w, 5, "PT4K", 0x9A, VID, 0x2001054D0);
}

// In system memory, GP10B and GV11B have a tag above the address (bits 53:36 of the entry).
TEST(Version2, CompressionTagOfSystemMemory) {
    constexpr std::uint64_t tag = 0x2AAAAULL << 36;
    Memory m = version2();
    m.set(VID, 0x2001054D0, 0x000000007F65430D | tag);
    expect_page(walk(m, {&nvdebug_mmu_gp10b, PDB2}, VA2), COH, 0x7F6543BCD, 4 * KIB);
    expect_page(walk(m, {&nvdebug_mmu_gp100, PDB2}, VA2), COH, 0x7F6543BCD | tag << 4, 4 * KIB);
}

TEST(Version2, CaseCNoSmall) {
    Memory m = version2();
    m.set(VID, 0x200104148, 0x20);
    m.set(VID, 0x2001054D0, 0x000000007F65430D);
    const auto w = walk(m, {&nvdebug_mmu_gp100, PDB2}, VA2);
    EXPECT_EQ(w.state, NVDEBUG_WALK_NO_SMALL);
    EXPECT_EQ(w.step[4].entry.meaning, NVDEBUG_MMU_NO_SMALL);
    EXPECT_EQ(w.steps, 5);
}

TEST(Version2, CaseDSparse) {
    Memory m = version2();
    m.set(VID, 0x200104148, 0x08);
    m.set(VID, 0x2001054D0, 0x000000007F65430D);
    EXPECT_EQ(walk(m, {&nvdebug_mmu_gp100, PDB2}, VA2).state, NVDEBUG_WALK_SPARSE);
}

TEST(Version2, CaseE2MPage) {
    Memory m = version2();
    m.set(COH, 0x1F00033C0, 0x0000000034560001);
    const auto w = walk(m, {&nvdebug_mmu_gp100, PDB2}, VA2);
    expect_page(w, VID, 0x34569ABCD, 2 * MIB);
    EXPECT_EQ(w.steps, 4);
}

TEST(Version2, LargePagesInEveryFormat) {
    Memory m = version2();
    m.set(COH, 0x1F00033C0, 0x0000000034560001);
    for (const auto *format : {&nvdebug_mmu_gp100, &nvdebug_mmu_gp100_128k, &nvdebug_mmu_gp10b,
                               &nvdebug_mmu_gp10b_128k, &nvdebug_mmu_tu102, &nvdebug_mmu_ga100})
        expect_page(walk(m, {format, PDB2}, VA2), VID, 0x34569ABCD, 2 * MIB);
}

TEST(Version2, AddressBitsWithinALargePageMeanNothing) {
    Memory m = version2();
    m.set(COH, 0x1F00033C0, 0x000000003457F001);
    expect_page(walk(m, {&nvdebug_mmu_gp100, PDB2}, VA2), VID, 0x34569ABCD, 2 * MIB);
}

TEST(Version2, PrivilegeOfAnInvalidSmallPageMeansNothing) {
    Memory m = version2();
    m.set(VID, 0x2001054D0, 0x20);
    EXPECT_EQ(walk(m, {&nvdebug_mmu_gp100, PDB2}, VA2).state, NVDEBUG_WALK_INVALID);
}

TEST(Version2, CaseF512MPageFromAmpereOn) {
    Memory m = version2();
    m.set(VID, 0x200102158, 0x0600000028000001);
    const auto w = walk(m, {&nvdebug_mmu_ga100, PDB2}, VA2);
    expect_page(w, VID, 0x28789ABCD, 512 * MIB);
    EXPECT_EQ(w.kind, 6);
    // Before Ampere, bit 0 means nothing there. The aperture is a table's, and means no table.
    EXPECT_EQ(walk(m, {&nvdebug_mmu_gp100, PDB2}, VA2).state, NVDEBUG_WALK_INVALID);
    EXPECT_EQ(walk(m, {&nvdebug_mmu_tu102, PDB2}, VA2).state, NVDEBUG_WALK_INVALID);
}

TEST(Version2, SmallOnlyAndBigOnly) {
    Memory m = version2();
    m.set(COH, 0x1F00033C0, 0);
    m.set(VID, 0x2001054D0, 0x000000007F65430D);
    auto w = walk(m, {&nvdebug_mmu_gp100, PDB2}, VA2);
    expect_page(w, COH, 0x7F6543BCD, 4 * KIB);
    EXPECT_EQ(w.steps, 5);

    m = version2();
    m.set(COH, 0x1F00033C8, 0);
    w = walk(m, {&nvdebug_mmu_gp100, PDB2}, VA2);
    EXPECT_EQ(w.state, NVDEBUG_WALK_INVALID);
    EXPECT_EQ(w.steps, 5);
    m.set(VID, 0x200104148, 0x20); // although there is no table of small pages
    EXPECT_EQ(walk(m, {&nvdebug_mmu_gp100, PDB2}, VA2).state, NVDEBUG_WALK_NO_SMALL);
}

TEST(Version2, SparseAndInvalidDirectories) {
    Memory m = version2();
    m.set(VID, 0x200102158, 0x08);
    EXPECT_EQ(walk(m, {&nvdebug_mmu_gp100, PDB2}, VA2).state, NVDEBUG_WALK_SPARSE);
    m.set(VID, 0x200102158, 0);
    EXPECT_EQ(walk(m, {&nvdebug_mmu_gp100, PDB2}, VA2).state, NVDEBUG_WALK_INVALID);
    m = version2();
    m.set(COH, 0x1F00033C0, 0x08);
    m.set(COH, 0x1F00033C8, 0);
    EXPECT_EQ(walk(m, {&nvdebug_mmu_gp100, PDB2}, VA2).state, NVDEBUG_WALK_SPARSE);
    m.set(COH, 0x1F00033C0, 0);
    m.set(COH, 0x1F00033C8, 0x08); // the small half's VOL means nothing by itself
    EXPECT_EQ(walk(m, {&nvdebug_mmu_gp100, PDB2}, VA2).state, NVDEBUG_WALK_INVALID);
}

// Each aperture has its own address bits. The bits above have other meanings.
TEST(Version2, FieldsAmongOnes) {
    Memory m;
    m.set(VID, PDB2 + 16, 0xFFFFFFFF'FFFFFFFA); // vid, 32:8
    auto w = walk(m, {&nvdebug_mmu_gp100, PDB2}, VA2);
    EXPECT_EQ(w.step[0].entry.table.addr, 0x1FFFFFF000u);
    m.set(VID, PDB2 + 16, 0xFFFFFFFF'FFFFFFFC); // coh, 53:8
    w = walk(m, {&nvdebug_mmu_gp100, PDB2}, VA2);
    EXPECT_EQ(w.step[0].entry.table.addr, 0x3FFFFFFFFFFF000u);
    EXPECT_EQ(w.step[0].entry.table.aperture, COH);

    m = version2();
    m.set(COH, 0x1F00033C0, 0xFFFFFFFF'FFFFFFFA); // vid, 32:4
    m.set(COH, 0x1F00033C8, 0xFFFFFFFF'FFFFFFFE); // ncoh, 53:8
    w = walk(m, {&nvdebug_mmu_gp100, PDB2}, VA2);
    EXPECT_EQ(w.step[3].entry.table.addr, 0x1FFFFFFF00u);
    EXPECT_EQ(w.step[3].entry.small.addr, 0x3FFFFFFFFFFF000u);
    EXPECT_EQ(w.step[3].entry.small.aperture, NCOH);
    m.set(COH, 0x1F00033C0, 0xFFFFFFFF'FFFFFFFC); // coh, 53:4
    w = walk(m, {&nvdebug_mmu_gp100, PDB2}, VA2);
    EXPECT_EQ(w.step[3].entry.table.addr, 0x3FFFFFFFFFFFF00u);

    m = version2();
    m.set(VID, 0x200104148, 0xFFFFFFFF'FFFFF0F1); // vid: 36:12 of the address, of a 64 KiB page
    w = walk(m, {&nvdebug_mmu_gp100, PDB2}, VA2);
    expect_page(w, VID, 0x1FFFFFABCD, 64 * KIB);
    EXPECT_EQ(w.kind, 0xFF);
    EXPECT_EQ(w.flags, NVDEBUG_PAGE_PRIVILEGED | NVDEBUG_PAGE_READ_ONLY | NVDEBUG_PAGE_NO_ATOMICS |
                           NVDEBUG_PAGE_COMPRESSED);
    m.set(VID, 0x200104148, 0xFFFFFFFF'FFFFF0F5); // coh: 57:12
    expect_page(walk(m, {&nvdebug_mmu_gp100, PDB2}, VA2), COH, 0x3FFFFFFFFFFABCD, 64 * KIB);
    m.set(VID, 0x200104148, 0x0000000B'FFFFF003); // peer 5
    w = walk(m, {&nvdebug_mmu_gp100, PDB2}, VA2);
    EXPECT_EQ(w.state, NVDEBUG_WALK_PEER);
    EXPECT_EQ(w.peer, 5);
    EXPECT_EQ(w.addr, 0x1FFFFFABCDu);
    EXPECT_EQ(w.flags, 0);
}

TEST(Version2, CompressedKindsFromTuringOn) {
    Memory m = version2();
    m.set(VID, 0x200104148, 0x0800000031234001);
    EXPECT_EQ(walk(m, {&nvdebug_mmu_gp100, PDB2}, VA2).flags, 0);
    EXPECT_EQ(walk(m, {&nvdebug_mmu_tu102, PDB2}, VA2).flags, NVDEBUG_PAGE_COMPRESSED);
    m.set(VID, 0x200104148, 0x0E00000031234001);
    EXPECT_EQ(walk(m, {&nvdebug_mmu_ga100, PDB2}, VA2).flags, NVDEBUG_PAGE_COMPRESSED);
    m.set(VID, 0x200104148, 0x0F00000031234001);
    EXPECT_EQ(walk(m, {&nvdebug_mmu_ga100, PDB2}, VA2).flags, 0);
}

// --- version 3 ---

TEST(Version3, CaseABigPage) {
    Memory m = version3();
    m.set(VID, 0x1234005358, 0x0000001357930681);
    const auto w = walk(m, {&nvdebug_mmu_gh100, PDB3}, VA3);
    expect_page(w, VID, 0x135793CDEF, 64 * KIB);
    EXPECT_EQ(w.kind, 6);
    EXPECT_EQ(w.flags, 0);
    ASSERT_EQ(w.steps, 6);
    expect_step(w, 0, "PD4", 1, VID, 0x1234000008);
    expect_step(w, 1, "PD3", 0x46, VID, 0x1234001230);
    expect_step(w, 2, "PD2", 0x115, VID, 0x12340028A8);
    expect_step(w, 3, "PD1", 0x13C, VID, 0x12340039E0);
    expect_step(w, 4, "PD0", 0x4D, COH, 0x40567894D0);
    expect_step(w, 5, "PT64K", 0xB, VID, 0x1234005358);
}

TEST(Version3, CaseBSmallPage) {
    Memory m = version3();
    m.set(VID, 0x12340065E0, 0x0000001357924681);
    const auto w = walk(m, {&nvdebug_mmu_gh100, PDB3}, VA3);
    expect_page(w, VID, 0x1357924DEF, 4 * KIB);
    ASSERT_EQ(w.steps, 7);
    expect_step(w, 6, "PT4K", 0xBC, VID, 0x12340065E0);
}

TEST(Version3, CaseCSystemMemory) {
    Memory m = version3();
    m.set(VID, 0x12340065E0, 0x0000007F1234500D);
    const auto w = walk(m, {&nvdebug_mmu_gh100, PDB3}, VA3);
    expect_page(w, COH, 0x7F12345DEF, 4 * KIB);
    EXPECT_EQ(w.flags, NVDEBUG_PAGE_VOLATILE);
    EXPECT_EQ(w.kind, 0);
}

TEST(Version3, CasesDAndE) {
    Memory m = version3();
    m.set(VID, 0x12340065E0, 0x0000001357924681);
    m.set(VID, 0x1234005358, 0x18);
    EXPECT_EQ(walk(m, {&nvdebug_mmu_gh100, PDB3}, VA3).state, NVDEBUG_WALK_NO_SMALL);
    m.set(VID, 0x1234005358, 0x08);
    EXPECT_EQ(walk(m, {&nvdebug_mmu_gh100, PDB3}, VA3).state, NVDEBUG_WALK_SPARSE);
    m.set(VID, 0x1234005358, 0x88); // PCF 0x11 is not sparse's
    EXPECT_EQ(walk(m, {&nvdebug_mmu_gh100, PDB3}, VA3).state, NVDEBUG_WALK_MAPPED);
}

TEST(Version3, SparseDirectory) {
    for (const u64 entry : {0x18ULL, 0x08ULL}) {
        Memory m = version3();
        m.set(VID, 0x12340039E0, entry);
        EXPECT_EQ(walk(m, {&nvdebug_mmu_gh100, PDB3}, VA3).state, NVDEBUG_WALK_SPARSE);
        m = version3();
        m.set(COH, 0x40567894D0, entry);
        m.set(COH, 0x40567894D8, 0);
        EXPECT_EQ(walk(m, {&nvdebug_mmu_gh100, PDB3}, VA3).state, NVDEBUG_WALK_SPARSE);
    }
    for (const u64 entry : {0x00ULL, 0x10ULL}) {
        Memory m = version3();
        m.set(VID, 0x12340039E0, entry);
        EXPECT_EQ(walk(m, {&nvdebug_mmu_gh100, PDB3}, VA3).state, NVDEBUG_WALK_INVALID);
    }
}

TEST(Version3, CaseF2MPage) {
    Memory m = version3();
    m.set(COH, 0x40567894D0, 0x0000001360200681);
    expect_page(walk(m, {&nvdebug_mmu_gh100, PDB3}, VA3), VID, 0x13602BCDEF, 2 * MIB);
}

TEST(Version3, CaseG512MPage) {
    Memory m = version3();
    m.set(VID, 0x12340039E0, 0x0000001420000681);
    expect_page(walk(m, {&nvdebug_mmu_gh100, PDB3}, VA3), VID, 0x1429ABCDEF, 512 * MIB);
}

TEST(Version3, CaseH256GPageOnBlackwell) {
    Memory m = version3();
    m.set(VID, 0x12340028A8, 0x000000800000000D);
    const auto w = walk(m, {&nvdebug_mmu_gb100, PDB3}, VA3);
    expect_page(w, COH, 0xA789ABCDEF, 256 * GIB);
    EXPECT_EQ(w.steps, 3);
    // Hopper sees the pointer to a table there
    const auto hopper = walk(m, {&nvdebug_mmu_gh100, PDB3}, VA3);
    EXPECT_EQ(hopper.step[2].entry.meaning, NVDEBUG_MMU_TABLE);
}

TEST(Version3, Peer) {
    Memory m = version3();
    m.set(VID, 0x12340065E0, 0xA00000022468A083);
    const auto w = walk(m, {&nvdebug_mmu_gh100, PDB3}, VA3);
    EXPECT_EQ(w.state, NVDEBUG_WALK_PEER);
    EXPECT_EQ(w.peer, 5);
    EXPECT_EQ(w.addr, 0x22468ADEFu);
    EXPECT_EQ(w.kind, 0);
}

TEST(Version3, FieldsAmongOnes) {
    Memory m = version3();
    m.set(VID, 0x12340065E0, 0xFFFFFFFF'FFFFF8F9);
    auto w = walk(m, {&nvdebug_mmu_gh100, PDB3}, VA3);
    expect_page(w, VID, 0xFFFFFFFFFFDEF, 4 * KIB);
    EXPECT_EQ(w.kind, 8);
    EXPECT_EQ(w.peer, 0);
    EXPECT_EQ(w.flags, NVDEBUG_PAGE_PRIVILEGED | NVDEBUG_PAGE_READ_ONLY | NVDEBUG_PAGE_NO_ATOMICS |
                           NVDEBUG_PAGE_VOLATILE | NVDEBUG_PAGE_COMPRESSED);
    m.set(COH, 0x40567894D0, 0xFFFFFFFF'FFFFFFFA);
    m.set(COH, 0x40567894D8, 0xFFFFFFFF'FFFFFFFC);
    w = walk(m, {&nvdebug_mmu_gh100, PDB3}, VA3);
    EXPECT_EQ(w.step[4].entry.table.addr, 0xFFFFFFFFFFF00u);
    EXPECT_EQ(w.step[4].entry.small.addr, 0xFFFFFFFFFF000u);
}

// --- Impossible roots, addresses and tables ---

TEST(Walk, AddressesBeyondTheFormat) {
    const Memory m;
    const auto state = [&](const nvdebug_mmu_format &f, u64 va) {
        return walk(m, {&f, 0}, va).state;
    };
    EXPECT_EQ(state(nvdebug_mmu_gk104_64k, (1UL << 40) - 1), NVDEBUG_WALK_INVALID);
    EXPECT_EQ(state(nvdebug_mmu_gk104_64k, 1UL << 40), NVDEBUG_WALK_OUT_OF_RANGE);
    EXPECT_EQ(state(nvdebug_mmu_gp100, (1UL << 49) - 1), NVDEBUG_WALK_INVALID);
    EXPECT_EQ(state(nvdebug_mmu_gp100, 1UL << 49), NVDEBUG_WALK_OUT_OF_RANGE);
    EXPECT_EQ(state(nvdebug_mmu_gh100, (1UL << 57) - 1), NVDEBUG_WALK_INVALID);
    EXPECT_EQ(state(nvdebug_mmu_gh100, 1UL << 57), NVDEBUG_WALK_OUT_OF_RANGE);
    EXPECT_EQ(state(nvdebug_mmu_gh100, 0xFDFFFFFFFFFFFFFF), NVDEBUG_WALK_OUT_OF_RANGE);
    EXPECT_EQ(state(nvdebug_mmu_gh100, 0xFEFFFFFFFFFFFFFF), NVDEBUG_WALK_OUT_OF_RANGE);
}

TEST(Walk, SignExtendedAddresses) {
    const Memory m = version3();
    auto w = walk(m, {&nvdebug_mmu_gh100, PDB3}, 0xFF23456789ABCDEF);
    EXPECT_EQ(w.va, 0x0123456789ABCDEFu);
    expect_step(w, 0, "PD4", 1, VID, 0x1234000008);
    w = walk(m, {&nvdebug_mmu_gp100, PDB2}, 0xFFFE8000'00000000);
    EXPECT_EQ(w.state, NVDEBUG_WALK_OUT_OF_RANGE) << "bit 48 is clear, so it is not the sign";
    w = walk(m, {&nvdebug_mmu_gp100, PDB2}, 0xFFFF0000'00000000);
    EXPECT_EQ(w.va, 0x1000000000000u);
}

TEST(Walk, LimitOfTheInstanceBlock) {
    const Memory m;
    const Root root{&nvdebug_mmu_gp100, 0, VID, 0, 0x1FFFFFF000};
    EXPECT_EQ(walk(m, root, 0x1FFFFFFFFF).state, NVDEBUG_WALK_INVALID);
    EXPECT_EQ(walk(m, root, 0x2000000000).state, NVDEBUG_WALK_OUT_OF_RANGE);
}

TEST(Walk, BadRoots) {
    const Memory m;
    auto w = walk(m, {&nvdebug_mmu_gp100, 0, NVDEBUG_APERTURE_PEER}, 0);
    EXPECT_EQ(w.state, NVDEBUG_WALK_BAD_APERTURE);
    EXPECT_EQ(w.steps, 0);
    EXPECT_EQ(walk(m, {&nvdebug_mmu_gp100, 0x800}, 0).state, NVDEBUG_WALK_BAD_TABLE);
    EXPECT_EQ(walk(m, {&nvdebug_mmu_gp100, GIB, VID, GIB}, 0).state, NVDEBUG_WALK_BAD_TABLE);
    EXPECT_EQ(walk(m, {&nvdebug_mmu_gp100, GIB, COH, GIB}, 0).state, NVDEBUG_WALK_INVALID);
}

TEST(Walk, TablesBeyondVideoMemory) {
    Memory m = version2();
    Root root{&nvdebug_mmu_gp100, PDB2, VID, 0x200101000};
    auto w = walk(m, root, VA2);
    EXPECT_EQ(w.state, NVDEBUG_WALK_BAD_TABLE);
    EXPECT_EQ(w.steps, 1);
    root.video_memory = 0x200105000; // memory ends before the small table
    w = walk(m, root, VA2);
    EXPECT_EQ(w.state, NVDEBUG_WALK_BAD_TABLE);
    EXPECT_EQ(w.steps, 5);
    root.video_memory = 0x200106000;
    EXPECT_EQ(walk(m, root, VA2).state, NVDEBUG_WALK_INVALID);
}

// Every entry of the directory points to the directory itself, so the levels run out.
TEST(Walk, CyclicTablesEnd) {
    for (const auto *format : {&nvdebug_mmu_gp100, &nvdebug_mmu_ga100, &nvdebug_mmu_gh100}) {
        Memory m;
        const u64 entry = format->version == 3 ? 0x1002 : 0x102; // table at 0x1000, vid
        for (u64 at = 0x1000; at < 0x2000; at += 8)
            m.set(VID, at, entry);
        const auto w = walk(m, {format, 0x1000}, 0x123456789ABCD);
        EXPECT_EQ(w.state, NVDEBUG_WALK_INVALID);
        EXPECT_EQ(w.steps, format->directories + 2);
    }
}

TEST(Walk, FeedingAfterTheEndChangesNothing) {
    nvdebug_walk w;
    nvdebug_walk_start(&w, &nvdebug_mmu_gp100, PDB2, VID, VA2);
    const u32 nothing[NVDEBUG_MMU_ENTRY_WORDS] = {};
    for (int i = 0; i < 20; i++)
        nvdebug_walk_feed(&w, nothing);
    EXPECT_EQ(w.steps, 1);
}

} // namespace
