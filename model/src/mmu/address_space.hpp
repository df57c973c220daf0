// SPDX-License-Identifier: MIT OR GPL-2.0
// Page tables as a driver builds them.
#pragma once

#include "memory/memory.hpp"
#include "mmu/encode.hpp"
#include "mmu/format.hpp"
#include "mmu/page.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace nvmodel::mmu {

/// Takes memory for a table: size and alignment in, address out.
using TakeMemory = std::function<PhysicalAddress(std::uint64_t size, std::uint64_t alignment)>;

struct Mapping {
    std::uint64_t page_size = 0;
    PageAddress at;
    PageFlags flags;

    bool operator==(const Mapping &) const = default;
};

/// A piece of memory that holds tables.
struct TableMemory {
    PhysicalAddress at;
    std::uint64_t size = 0;
};

class AddressSpace {
  public:
    struct Options {
        DirectoryFlags flags = {};
        /// Version 1: a table of pages is first made an eighth of full size, and replaced by a
        /// larger one when needed.
        bool partial_tables = false;
    };

    /// The root's memory comes from `roots`, that of all other tables from `tables`.
    AddressSpace(Memory &memory, const Format &format, const TakeMemory &roots, TakeMemory tables,
                 Options options);
    AddressSpace(Memory &memory, const Format &format, const TakeMemory &everything)
        : AddressSpace(memory, format, everything, everything, {}) {}

    // All of these throw ConfigError if the format has no such page, an address is not aligned to
    // it, the range overlaps another, or a table lies where there is no memory.

    /// Maps one page.
    void map(std::uint64_t va, std::uint64_t page_size, const PageAddress &at,
             const PageFlags &flags = {});
    /// Makes a range sparse. It is one page of any size that the directories and tables have.
    void map_sparse(std::uint64_t va, std::uint64_t size);
    /// Marks a big page as having no small pages. Small pages that were mapped there stay in their
    /// table, but do not count any more.
    void hide_small_pages(std::uint64_t va);

    [[nodiscard]] const Format &format() const { return format_; }
    [[nodiscard]] PhysicalAddress root() const { return root_; }
    /// The mapped pages, by virtual address. Sparse ranges are not among them.
    [[nodiscard]] const std::map<std::uint64_t, Mapping> &mappings() const { return mappings_; }
    /// Returns whether nothing is mapped, sparse or hidden within the range.
    [[nodiscard]] bool is_free(std::uint64_t va, std::uint64_t size) const;
    /// All tables in use.
    [[nodiscard]] std::vector<TableMemory> tables() const;

  private:
    // The depth, and the address >> shift of the level above.
    using Key = std::pair<std::size_t, std::uint64_t>;

    [[nodiscard]] PhysicalAddress take(const TakeMemory &from, std::uint64_t size,
                                       std::uint64_t alignment);
    PhysicalAddress take_page_table(std::uint64_t page_size, unsigned exponent);
    void write_entry(PhysicalAddress table, std::uint64_t offset, std::uint64_t word);
    void occupy(std::uint64_t va, std::uint64_t size);
    PhysicalAddress directory(std::size_t depth, std::uint64_t va);
    void write_directory(std::size_t depth, std::uint64_t va, std::uint64_t word);
    void write_dual(std::uint64_t va, const DualWords &words);
    void write_page(std::uint64_t va, std::uint64_t page_size, std::uint64_t word);
    void enlarge(DualTables &dual, unsigned exponent);
    void write(std::uint64_t va, std::uint64_t size, std::uint64_t page,
               std::uint64_t at_directory);

    Memory &memory_;
    Format format_;
    TakeMemory tables_;
    Options options_;
    PhysicalAddress root_;
    std::map<Key, PhysicalAddress> directories_;
    std::map<std::uint64_t, DualTables> duals_; // by va >> dual().shift
    std::vector<PhysicalAddress> free_big_tables_;
    std::map<std::uint64_t, Mapping> mappings_;
    std::map<std::uint64_t, std::uint64_t> occupied_; // start to size
};

} // namespace nvmodel::mmu
