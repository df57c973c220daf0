// SPDX-License-Identifier: MIT OR GPL-2.0
#include "mmu/address_space.hpp"

#include "base/error.hpp"
#include "regs/mmu.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

namespace nvmodel::mmu {
namespace {

constexpr std::uint64_t table_alignment = 1ULL << regs::mmu::page_shift;
constexpr std::uint64_t big_table_alignment = 1ULL << regs::mmu::big_table_shift;
constexpr unsigned smallest_exponent = 3; // an eighth

[[noreturn]] void refuse(std::uint64_t va, const std::string &reason) {
    std::ostringstream text;
    text << "virtual address " << std::hex << std::showbase << va << ' ' << reason;
    throw ConfigError(text.str());
}

std::uint64_t directory_bytes(const Level &level) {
    return std::max(std::uint64_t{level.entries} * level.entry_bytes, table_alignment);
}

} // namespace

AddressSpace::AddressSpace(Memory &memory, const Format &format, const TakeMemory &roots,
                           TakeMemory tables, Options options)
    : memory_(memory), format_(format), tables_(std::move(tables)), options_(options),
      root_(take(roots, directory_bytes(format.root()), table_alignment)) {
    directories_.emplace(Key{0, 0}, root_);
}

void AddressSpace::map(std::uint64_t va, std::uint64_t page_size, const PageAddress &at,
                       const PageFlags &flags) {
    if (!format_.has_page_size(page_size))
        refuse(va, "cannot have a page of " + std::to_string(page_size) + " bytes");
    if (at.address % page_size != 0)
        refuse(va, "cannot lead to an address that is not a multiple of its page's size");
    occupy(va, page_size);
    mappings_.emplace(va, Mapping{page_size, at, flags});
    write(va, page_size, encode_page(format_.version, at, flags),
          encode_page(format_.version, at, flags));
}

void AddressSpace::map_sparse(std::uint64_t va, std::uint64_t size) {
    const bool known =
        size == small_page || size == format_.big_page ||
        std::ranges::count(format_.directories(), size, [](const Level &l) { return l.span(); });
    if (!known)
        refuse(va, "cannot be sparse for " + std::to_string(size) + " bytes");
    occupy(va, size);
    write(va, size, encode_sparse_page(format_.version),
          encode_sparse_directory(format_.version, options_.flags));
}

void AddressSpace::hide_small_pages(std::uint64_t va) {
    const std::uint64_t end = va + format_.big_page;
    for (auto at = occupied_.lower_bound(va); at != occupied_.end() && at->first < end;) {
        const auto mapping = mappings_.find(at->first);
        if (mapping == mappings_.end() || mapping->second.page_size != small_page)
            break; // occupy() reports the overlap
        mappings_.erase(mapping);
        at = occupied_.erase(at);
    }
    occupy(va, format_.big_page);
    write_page(va, format_.big_page, encode_no_small_pages(format_.version));
}

bool AddressSpace::is_free(std::uint64_t va, std::uint64_t size) const {
    auto next = occupied_.lower_bound(va);
    if (next != occupied_.end() && next->first - va < size)
        return false;
    return next == occupied_.begin() || va - std::prev(next)->first >= std::prev(next)->second;
}

std::vector<TableMemory> AddressSpace::tables() const {
    std::vector<TableMemory> all;
    for (const auto &[key, at] : directories_)
        all.push_back({at, directory_bytes(format_.directories()[key.first])});
    const auto bytes = [this](std::uint64_t page, unsigned exponent) {
        return 8ULL * (format_.table_entries(page) >> exponent);
    };
    for (const auto &[number, dual] : duals_) {
        if (dual.big)
            all.push_back({*dual.big, bytes(format_.big_page, dual.size_exponent)});
        if (dual.small)
            all.push_back({*dual.small, bytes(small_page, dual.size_exponent)});
    }
    return all;
}

/// Takes memory that reads zero.
PhysicalAddress AddressSpace::take(const TakeMemory &from, std::uint64_t size,
                                   std::uint64_t alignment) {
    const PhysicalAddress at = from(size, alignment);
    const std::vector<std::byte> zeros(size);
    memory_.must_write(at, zeros);
    return at;
}

/// Takes memory for a table of pages. Tables of big pages are only 256 or 128 bytes long in
/// versions 2 and 3, so several share a page. No table is at the start of a page, so that a reader
/// that drops address bits fails.
PhysicalAddress AddressSpace::take_page_table(std::uint64_t page_size, unsigned exponent) {
    const std::uint64_t bytes = 8ULL * (format_.table_entries(page_size) >> exponent);
    if (bytes > big_table_alignment)
        return take(tables_, bytes, table_alignment);
    if (free_big_tables_.empty()) {
        const PhysicalAddress page = take(tables_, table_alignment, table_alignment);
        for (std::uint64_t at = table_alignment - big_table_alignment; at > 0;
             at -= big_table_alignment)
            free_big_tables_.push_back({page.aperture, page.address + at});
    }
    const PhysicalAddress at = free_big_tables_.back();
    free_big_tables_.pop_back();
    return at;
}

void AddressSpace::write_entry(PhysicalAddress table, std::uint64_t offset, std::uint64_t word) {
    memory_.must_write({table.aperture, table.address + offset},
                       std::as_bytes(std::span(&word, 1)));
}

void AddressSpace::occupy(std::uint64_t va, std::uint64_t size) {
    if (va % size != 0)
        refuse(va, "is not a multiple of its page's size");
    if (va >> format_.va_bits() != 0)
        refuse(va, "is beyond the format's " + std::to_string(format_.va_bits()) + " bits");
    if (!is_free(va, size))
        refuse(va, "is in use");
    occupied_.emplace(va, size);
}

/// Returns the directory of this depth which covers the address, and makes it if need be.
PhysicalAddress AddressSpace::directory(std::size_t depth, std::uint64_t va) {
    const auto levels = format_.directories();
    const std::uint64_t number = depth == 0 ? 0 : va >> levels[depth - 1].shift;
    const auto known = directories_.find({depth, number});
    if (known != directories_.end())
        return known->second;
    const PhysicalAddress at = take(tables_, directory_bytes(levels[depth]), table_alignment);
    write_directory(depth - 1, va, encode_directory(format_.version, at, options_.flags));
    directories_.emplace(Key{depth, number}, at);
    return at;
}

void AddressSpace::write_directory(std::size_t depth, std::uint64_t va, std::uint64_t word) {
    const Level &level = format_.directories()[depth];
    write_entry(directory(depth, va), std::uint64_t{level.index(va)} * level.entry_bytes, word);
}

void AddressSpace::write_dual(std::uint64_t va, const DualWords &words) {
    const Level &level = format_.dual();
    const PhysicalAddress table = directory(format_.directories().size() - 1, va);
    for (unsigned i = 0; i < level.entry_bytes / 8; ++i)
        write_entry(table, std::uint64_t{level.index(va)} * level.entry_bytes + 8ULL * i, words[i]);
}

/// Replaces tables of pages by larger ones.
void AddressSpace::enlarge(DualTables &dual, unsigned exponent) {
    const auto grow = [&](std::optional<PhysicalAddress> &table, std::uint64_t page_size) {
        if (!table)
            return;
        std::vector<std::byte> entries(8ULL *
                                       (format_.table_entries(page_size) >> dual.size_exponent));
        const PhysicalAddress larger = take_page_table(page_size, exponent);
        if (memory_.read(*table, entries))
            memory_.must_write(larger, entries);
        table = larger;
    };
    grow(dual.big, format_.big_page);
    grow(dual.small, small_page);
    dual.size_exponent = exponent;
}

void AddressSpace::write_page(std::uint64_t va, std::uint64_t page_size, std::uint64_t word) {
    const std::uint64_t index = (va % format_.dual().span()) / page_size;
    const bool partial = options_.partial_tables && format_.version == Version::v1;
    const auto [found, fresh] = duals_.try_emplace(va >> format_.dual().shift);
    DualTables &dual = found->second;
    if (fresh)
        dual.size_exponent = partial ? smallest_exponent : 0;
    unsigned exponent = dual.size_exponent;
    while (index >= format_.table_entries(page_size) >> exponent)
        --exponent;
    auto &table = page_size == small_page ? dual.small : dual.big;
    if (exponent != dual.size_exponent || !table) {
        if (exponent != dual.size_exponent)
            enlarge(dual, exponent);
        if (!table)
            table = take_page_table(page_size, exponent);
        write_dual(va, encode_dual(format_.version, dual, options_.flags));
    }
    write_entry(*table, 8 * index, word);
}

/// Writes an entry for a range of this size, in a table of pages or in a directory.
void AddressSpace::write(std::uint64_t va, std::uint64_t size, std::uint64_t page,
                         std::uint64_t at_directory) {
    if (size == small_page || size == format_.big_page) {
        write_page(va, size, page);
        return;
    }
    const auto levels = format_.directories();
    if (size == format_.dual().span()) {
        duals_.erase(va >> format_.dual().shift);
        write_dual(va, {at_directory, 0});
        return;
    }
    const auto level = std::ranges::find(levels, size, [](const Level &l) { return l.span(); });
    write_directory(static_cast<std::size_t>(level - levels.begin()), va, at_directory);
}

} // namespace nvmodel::mmu
