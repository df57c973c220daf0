// SPDX-License-Identifier: MIT OR GPL-2.0
// Scans of page tables: the mappings that they find, and the order in which they read entries.
#include "page_tables.hpp"

#include <vector>

namespace {

using namespace page_tables;

struct Found {
    std::vector<nvdebug_mmu_leaf> leaves;
    u32 entries = 0;
    bool at_end = false;
};

Found scan(const Memory &memory, const Root &root, u64 limit, u32 budget = ~0U) {
    Found found;
    nvdebug_scan s;
    nvdebug_scan_start(&s, root.format, root.pdb, root.aperture, limit, root.video_memory, budget);
    u64 addr, last = 0;
    u8 aperture;
    u32 count, words[NVDEBUG_MMU_ENTRY_WORDS];
    while (nvdebug_scan_wants(&s, &addr, &aperture, &count)) {
        nvdebug_mmu_leaf leaf;
        memory.read(aperture, addr, count, words);
        found.entries++;
        if (nvdebug_scan_feed(&s, words, &leaf))
            found.leaves.push_back(leaf);
        EXPECT_GE(s.va, last);
        last = s.va;
    }
    found.at_end = nvdebug_scan_at_end(&s);
    return found;
}

void expect_leaf(const nvdebug_mmu_leaf &leaf, u64 va, u8 aperture, u64 addr, u64 size) {
    EXPECT_EQ(leaf.va, va);
    EXPECT_EQ(leaf.aperture, aperture);
    EXPECT_EQ(leaf.addr, addr);
    EXPECT_EQ(leaf.size, size);
}

TEST(Scan, EveryPageOfTheExample) {
    Memory m = version2();
    m.set(VID, 0x200104148, 0x0600000031234001); // 64 KiB, hides the small page
    m.set(VID, 0x2001054D0, 0x000000007F65430D);
    m.set(VID, 0x200105000 + 8 * 0xA0, 0x000000007F65430D); // under the next big entry
    m.set(COH, 0x1F00033D0, 0x0000000034560001);            // 2 MiB, in the next entry of PD0
    const auto found = scan(m, {&nvdebug_mmu_gp100, PDB2}, 0);
    const u64 base = 0x1234567800000;
    ASSERT_EQ(found.leaves.size(), 3u);
    expect_leaf(found.leaves[0], base + 9 * 64 * KIB, VID, 0x312340000, 64 * KIB);
    expect_leaf(found.leaves[1], base + 10 * 64 * KIB, COH, 0x7F6543000, 4 * KIB);
    expect_leaf(found.leaves[2], base + 2 * MIB, VID, 0x345600000, 2 * MIB);
    EXPECT_TRUE(found.at_end);
    // 4 + 512 + 512 + 256 directory entries, 32 big ones, 16 small ones for 31 of them
    EXPECT_EQ(found.entries, 4u + 512 + 512 + 256 + 32 + 31 * 16);
}

// Pascal with big pages of 128 KiB: bits 20:17 of the address are the index.
TEST(Version2, BigPagesOf128KiB) {
    for (const auto *format : {&nvdebug_mmu_gp100_128k, &nvdebug_mmu_gp10b_128k}) {
        Memory m = version2();
        m.set(VID, 0x200104120, 0x0600000031234001);
        const auto w = walk(m, {format, PDB2}, VA2);
        expect_page(w, VID, 0x31235ABCD, 128 * KIB);
        ASSERT_EQ(w.steps, 5);
        expect_step(w, 4, "PT128K", 4, VID, 0x200104120);
        const auto found = scan(m, {format, PDB2}, 0);
        ASSERT_EQ(found.leaves.size(), 1u);
        expect_leaf(found.leaves[0], 0x1234567880000, VID, 0x312340000, 128 * KIB);
        m.set(VID, 0x200104120, 0);
        m.set(VID, 0x2001054D0, 0x000000007F65430D);
        expect_page(walk(m, {format, PDB2}, VA2), COH, 0x7F6543BCD, 4 * KIB);
    }
}

TEST(Scan, NoSmallAndSparseAreSkipped) {
    Memory m = version2();
    for (u64 i = 0; i < 32; i++)
        m.set(VID, 0x200104100 + 8 * i, i & 1 ? 0x20 : 0x08);
    m.set(VID, 0x2001054D0, 0x000000007F65430D);
    const auto found = scan(m, {&nvdebug_mmu_gp100, PDB2}, 0);
    EXPECT_TRUE(found.leaves.empty());
    EXPECT_EQ(found.entries, 4u + 512 + 512 + 256 + 32);
}

TEST(Scan, Version1) {
    Memory m;
    m.set(VID, 0x1C000000, 0x002468A1'003468C1);
    m.set(VID, 0x3468C000, 0x005A5A01);              // first page of 64 KiB
    m.set(VID, 0x2468A000 + 8 * 0xF, 0x00333331);    // hidden by that page
    m.set(VID, 0x2468A000 + 8 * 0x12, 0x00111111);   // below an invalid big entry
    m.set(VID, 0x2468A000 + 8 * 0x3FFF, 0x00222221); // the last small page
    const auto found = scan(m, {&nvdebug_mmu_gk104_64k, 0x1C000000}, 64 * MIB);
    ASSERT_EQ(found.leaves.size(), 3u);
    expect_leaf(found.leaves[0], 0, VID, 0x5A5A0000, 64 * KIB);
    expect_leaf(found.leaves[1], 0x12000, VID, 0x11111000, 4 * KIB);
    expect_leaf(found.leaves[2], 0x3FFF000, VID, 0x22222000, 4 * KIB);
    EXPECT_EQ(found.entries, 1u + 1024 + 1023 * 16);
}

TEST(Scan, ReducedTablesOfVersion1) {
    Memory m;
    m.set(VID, 0x1C000000, 0x002468A1'0000000C); // 1/8: 8 MiB of small pages
    m.set(VID, 0x1C000008, 0x002468A1'00000000);
    const auto found = scan(m, {&nvdebug_mmu_gk104_64k, 0x1C000000}, 128 * MIB);
    EXPECT_TRUE(found.at_end);
    EXPECT_EQ(found.entries, 2u + 2048 + 16384);
}

TEST(Scan, EndsAtTheLimit) {
    Memory m = version2();
    m.set(VID, 0x200100000, 0x0000000020010102);
    m.set(VID, 0x200101000, 0x0000000020010202);
    m.set(VID, 0x200102000, 0x000000001F00030C);
    m.set(COH, 0x1F0003000, 0x0000000034560001);
    m.set(COH, 0x1F0003010, 0x0000000034580001);
    auto found = scan(m, {&nvdebug_mmu_gp100, PDB2}, 3 * MIB);
    ASSERT_EQ(found.leaves.size(), 2u);
    expect_leaf(found.leaves[1], 2 * MIB, VID, 0x345800000, 1 * MIB);
    EXPECT_EQ(found.entries, 5u);
    found = scan(m, {&nvdebug_mmu_gp100, PDB2}, 2 * MIB);
    EXPECT_EQ(found.leaves.size(), 1u);
    EXPECT_EQ(found.entries, 4u);
}

TEST(Scan, BudgetAndGoingOn) {
    Memory m = version2();
    m.set(VID, 0x200104148, 0x0600000031234001);
    auto found = scan(m, {&nvdebug_mmu_gp100, PDB2}, 0, 10);
    EXPECT_EQ(found.entries, 10u);
    EXPECT_FALSE(found.at_end);

    nvdebug_scan s;
    nvdebug_scan_start(&s, &nvdebug_mmu_gp100, PDB2, VID, 0, 0, 0);
    u64 addr;
    u8 aperture;
    u32 count, words[NVDEBUG_MMU_ENTRY_WORDS], leaves = 0;
    while (!nvdebug_scan_at_end(&s)) {
        nvdebug_mmu_leaf leaf;
        EXPECT_FALSE(nvdebug_scan_wants(&s, &addr, &aperture, &count));
        s.budget = 7;
        while (nvdebug_scan_wants(&s, &addr, &aperture, &count)) {
            m.read(aperture, addr, count, words);
            leaves += nvdebug_scan_feed(&s, words, &leaf);
        }
    }
    EXPECT_EQ(leaves, 1u);
}

TEST(Scan, CyclicTablesAreBoundedByTheBudget) {
    Memory m;
    for (u64 at = 0x1000; at < 0x2000; at += 8)
        m.set(VID, at, 0x102);
    const auto found = scan(m, {&nvdebug_mmu_gp100, 0x1000}, 0, 100000);
    EXPECT_EQ(found.entries, 100000u);
    EXPECT_FALSE(found.at_end);
}

TEST(Scan, TablesOutsideOfMemoryAreSkipped) {
    const Memory m = version2();
    Root root{&nvdebug_mmu_gp100, PDB2, VID, 0x200104000}; // memory ends before both page tables
    auto found = scan(m, root, 0);
    EXPECT_TRUE(found.at_end);
    EXPECT_EQ(found.entries, 4u + 512 + 512 + 256);
    root.video_memory = 0x200102000; // memory has PD3 and PD2 only
    found = scan(m, root, 0, 10000);
    EXPECT_TRUE(found.at_end);
    EXPECT_EQ(found.entries, 4u + 512);
    root.video_memory = 0x200100000;
    EXPECT_EQ(scan(m, root, 0).entries, 0u);
    EXPECT_TRUE(scan(m, root, 0).at_end);
}

TEST(Scan, BadRoots) {
    const Memory m;
    for (const Root &root :
         {Root{&nvdebug_mmu_gp100, 0x800}, Root{&nvdebug_mmu_gp100, 0, NVDEBUG_APERTURE_PEER}}) {
        const auto found = scan(m, root, 0, 10000);
        EXPECT_EQ(found.entries, 0u);
        EXPECT_TRUE(found.at_end);
    }
}

// Words for which the scan did not ask change nothing.
TEST(Scan, FeedingAtTheEndOrWithoutBudgetChangesNothing) {
    const u32 page[NVDEBUG_MMU_ENTRY_WORDS] = {0x20000001};
    nvdebug_scan s;
    nvdebug_mmu_leaf leaf;
    nvdebug_scan_start(&s, &nvdebug_mmu_gp100, 0x800, VID, 0, 0, 3);
    EXPECT_FALSE(nvdebug_scan_feed(&s, page, &leaf));
    EXPECT_EQ(s.budget, 3u);
    nvdebug_scan_start(&s, &nvdebug_mmu_gp100, 0x1000, VID, 0, 0, 0);
    EXPECT_FALSE(nvdebug_scan_feed(&s, page, &leaf));
    EXPECT_EQ(s.budget, 0u);
    EXPECT_EQ(s.va, 0u);
}

// Feeds a scan until it wants a table at `until`.
void feed(const Memory &m, nvdebug_scan &s, u64 until) {
    u64 addr;
    u8 aperture;
    u32 count, words[NVDEBUG_MMU_ENTRY_WORDS];
    nvdebug_mmu_leaf leaf;
    while (nvdebug_scan_wants(&s, &addr, &aperture, &count) && addr != until) {
        m.read(aperture, addr, count, words);
        nvdebug_scan_feed(&s, words, &leaf);
    }
    ASSERT_FALSE(nvdebug_scan_at_end(&s));
}

TEST(Scan, TablesThatCannotBeReadAreSkipped) {
    const Memory m = version2();
    const u64 dual = 0x1234567800000; // the addresses of PD0[0x3C] begin here
    nvdebug_scan s;
    const auto start = [&] { nvdebug_scan_start(&s, &nvdebug_mmu_gp100, PDB2, VID, 0, 0, ~0U); };
    start();
    nvdebug_scan_skip(&s);
    EXPECT_TRUE(nvdebug_scan_at_end(&s)) << "the root";
    start();
    feed(m, s, 0x200101000);
    nvdebug_scan_skip(&s);
    EXPECT_EQ(s.va, 3UL << 47) << "PD2";
    start();
    feed(m, s, 0x200104100);
    nvdebug_scan_skip(&s);
    EXPECT_EQ(s.va, dual + 2 * MIB) << "the big pages: no small page can be told to be one";
    start();
    feed(m, s, 0x200105000 + 8 * 16);
    nvdebug_scan_skip(&s);
    EXPECT_EQ(s.va, dual + 2 * 64 * KIB) << "small pages below one big entry";
}

TEST(Scan, RunsOfEntries) {
    const Memory m = version2();
    nvdebug_scan s;
    nvdebug_scan_start(&s, &nvdebug_mmu_gp100, PDB2, VID, 0, 0, ~0U);
    EXPECT_EQ(nvdebug_scan_run(&s), 4u);
    feed(m, s, 0x200104100 + 8 * 2);
    EXPECT_EQ(nvdebug_scan_run(&s), 30u);
    feed(m, s, 0x200105000 + 8 * 35);
    EXPECT_EQ(nvdebug_scan_run(&s), 13u);
    nvdebug_scan_start(&s, &nvdebug_mmu_gp100, PDB2, VID, 33 * MIB, 0, ~0U);
    EXPECT_EQ(nvdebug_scan_run(&s), 1u);

    Memory first;
    first.set(VID, 0x1000, 0x202); // PD3 to PD1: tables at 0x2000, 0x3000, 0x4000
    first.set(VID, 0x2000, 0x302);
    first.set(VID, 0x3000, 0x402);
    nvdebug_scan_start(&s, &nvdebug_mmu_gp100, 0x1000, VID, 33 * MIB, 0, ~0U);
    feed(first, s, 0x4000);
    EXPECT_EQ(nvdebug_scan_run(&s), 17u);

    Memory reduced;
    reduced.set(VID, 0x1000, 0x00000051'0000000C); // 1/8 of 64 MiB in small pages
    nvdebug_scan_start(&s, &nvdebug_mmu_gk104_64k, 0x1000, VID, 0, 0, ~0U);
    feed(reduced, s, 0x5000 + 8 * 2040);
    EXPECT_EQ(nvdebug_scan_run(&s), 8u);
}

// Walk and scan agree on every page, in a table with each kind of entry.
TEST(Scan, AgreesWithTheWalk) {
    Memory m = version3();
    for (u64 i = 0; i < 32; i++)
        m.set(VID, 0x1234005300 + 8 * i, std::vector<u64>{0x1357930681, 0, 0x18, 0x08}[i % 4]);
    for (u64 i = 0; i < 512; i++)
        m.set(VID, 0x1234006000 + 8 * i, i % 3 ? 0 : 0x1357900681 + (i << 12));
    m.set(COH, 0x40567894E0, 0x0000001360200681);
    m.set(VID, 0x12340039E8, 0x0000001420000681);
    const Root root{&nvdebug_mmu_gb100, PDB3};
    const auto found = scan(m, root, 0);
    EXPECT_EQ(found.leaves.size(), 8u + 42 + 1 + 1) << "64 KiB, 4 KiB, 2 MiB, 512 MiB";
    for (const auto &leaf : found.leaves) {
        for (const u64 offset : {u64{0}, leaf.size - 1}) {
            const auto w = walk(m, root, leaf.va + offset);
            expect_page(w, leaf.aperture, leaf.addr + offset, leaf.size);
        }
    }
}

} // namespace
