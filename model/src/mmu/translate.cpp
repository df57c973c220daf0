// SPDX-License-Identifier: MIT OR GPL-2.0
#include "mmu/translate.hpp"

#include "mmu/decode.hpp"

namespace nvmodel::mmu {
namespace {

std::optional<std::uint64_t> read_entry(const Memory &memory, PhysicalAddress table,
                                        std::uint64_t offset) {
    return memory.read_value({table.aperture, table.address + offset}, 8);
}

std::optional<DualEntry> read_dual(const Memory &memory, const Format &format,
                                   PhysicalAddress table, unsigned index) {
    const unsigned bytes = format.dual().entry_bytes;
    DualWords words{};
    for (unsigned i = 0; i < bytes / 8; ++i) {
        const auto word = read_entry(memory, table, std::uint64_t{index} * bytes + 8 * i);
        if (!word)
            return std::nullopt;
        words[i] = *word;
    }
    return decode_dual(format.version, words);
}

/// Returns the result of a walk. The page gives the address, and the lower bits of its entry do not
/// count.
Walk found(const PageEntry &page, std::uint64_t page_size, std::uint64_t va) {
    Translation result{page.at, page_size, page.flags};
    result.at.address = (page.at.address & ~(page_size - 1)) | (va & (page_size - 1));
    return {result, {}};
}

Walk unmapped(Unmapped why) {
    return {std::nullopt, why};
}

/// Reads the entry of the page that covers `va`, in a table of big or small pages. A table of
/// version 1 may be cut short; entries beyond its end are invalid.
std::optional<PageEntry> read_page(const Memory &memory, const Format &format,
                                   PhysicalAddress table, unsigned size_exponent,
                                   std::uint64_t page_size, std::uint64_t va) {
    const auto index = (va % format.dual().span()) / page_size;
    if (index >= format.table_entries(page_size) >> size_exponent)
        return PageEntry{};
    const auto word = read_entry(memory, table, 8 * index);
    return word ? std::optional(decode_page(format.version, *word)) : std::nullopt;
}

/// Walks the tables of pages. Big pages come first; small pages count where there is no big page
/// and nothing forbids them.
Walk walk_tables(const Memory &memory, const Format &format, const DualTables &tables,
                 std::uint64_t va) {
    if (tables.big) {
        const auto big =
            read_page(memory, format, *tables.big, tables.size_exponent, format.big_page, va);
        if (!big)
            return unmapped(Unmapped::memory);
        if (big->kind == EntryKind::page)
            return found(*big, format.big_page, va);
        if (big->kind != EntryKind::invalid)
            return unmapped(big->kind == EntryKind::sparse ? Unmapped::sparse : Unmapped::page);
    }
    if (!tables.small)
        return unmapped(tables.big ? Unmapped::page : Unmapped::directory);
    const auto small =
        read_page(memory, format, *tables.small, tables.size_exponent, small_page, va);
    if (!small)
        return unmapped(Unmapped::memory);
    if (small->kind == EntryKind::page)
        return found(*small, small_page, va);
    return unmapped(small->kind == EntryKind::sparse ? Unmapped::sparse : Unmapped::page);
}

/// Walks all pages of an address space.
class LeafWalker {
  public:
    LeafWalker(const Memory &memory, const Format &format,
               const std::function<bool(const Leaf &)> &visit)
        : memory_(memory), format_(format), levels_(format.directories()), visit_(visit) {}

    // All of these return false once the visitor has enough.

    bool directory(std::size_t depth, PhysicalAddress table, std::uint64_t va) {
        const Level &level = levels_[depth];
        const bool dual = depth + 1 == levels_.size();
        for (unsigned i = 0; i < level.entries; ++i) {
            const std::uint64_t at = va + i * level.span();
            if (!(dual ? dual_entry(table, i, at) : directory_entry(depth, table, i, at)))
                return false;
        }
        return true;
    }

  private:
    bool directory_entry(std::size_t depth, PhysicalAddress table, unsigned i, std::uint64_t va) {
        const Level &level = levels_[depth];
        const auto word = read_entry(memory_, table, std::uint64_t{i} * level.entry_bytes);
        if (!word)
            return true;
        const DirectoryEntry entry =
            decode_directory(format_.version, *word, format_.may_be_page(level));
        if (entry.kind == EntryKind::table)
            return directory(depth + 1, entry.table, va);
        return page(entry.page, level.span(), va);
    }

    bool dual_entry(PhysicalAddress table, unsigned i, std::uint64_t va) {
        const auto entry = read_dual(memory_, format_, table, i);
        if (!entry)
            return true;
        if (entry->kind != EntryKind::table)
            return page(entry->page, format_.dual().span(), va);
        const auto &[big, small, exponent] = entry->tables;
        const std::uint64_t end = va + (format_.dual().span() >> exponent);
        for (std::uint64_t at = va; at < end; at += format_.big_page) {
            PageEntry covering;
            if (big)
                covering = read_page(memory_, format_, *big, exponent, format_.big_page, at)
                               .value_or(PageEntry{.kind = EntryKind::nowhere});
            if (covering.kind != EntryKind::invalid) {
                if (!page(covering, format_.big_page, at))
                    return false;
            } else if (small && !small_pages(*small, exponent, at)) {
                return false;
            }
        }
        return true;
    }

    bool small_pages(PhysicalAddress table, unsigned exponent, std::uint64_t va) {
        for (std::uint64_t at = va; at < va + format_.big_page; at += small_page) {
            const auto entry = read_page(memory_, format_, table, exponent, small_page, at);
            if (entry && !page(*entry, small_page, at))
                return false;
        }
        return true;
    }

    bool page(const PageEntry &entry, std::uint64_t size, std::uint64_t va) {
        if (entry.kind != EntryKind::page)
            return true;
        const Translation result = *found(entry, size, va).page;
        return visit_({va, size, result.at, result.flags});
    }

    const Memory &memory_;
    const Format &format_;
    std::span<const Level> levels_;
    const std::function<bool(const Leaf &)> &visit_;
};

} // namespace

std::string_view name_of(Unmapped why) {
    switch (why) {
    case Unmapped::beyond:
        return "the address is beyond the format's";
    case Unmapped::directory:
        return "a directory entry is invalid";
    case Unmapped::page:
        return "the page's entry is invalid";
    case Unmapped::sparse:
        return "sparse";
    case Unmapped::memory:
        return "a table is where there is no memory";
    }
    return "?";
}

Walk translate(const Memory &memory, const Format &format, PhysicalAddress root, std::uint64_t va) {
    if (va >> format.va_bits() != 0)
        return unmapped(Unmapped::beyond);
    const auto levels = format.directories();
    PhysicalAddress table = root;
    for (const Level &level : levels.first(levels.size() - 1)) {
        const auto word =
            read_entry(memory, table, std::uint64_t{level.index(va)} * level.entry_bytes);
        if (!word)
            return unmapped(Unmapped::memory);
        const DirectoryEntry entry =
            decode_directory(format.version, *word, format.may_be_page(level));
        if (entry.kind == EntryKind::page)
            return found(entry.page, level.span(), va);
        if (entry.kind != EntryKind::table)
            return unmapped(entry.kind == EntryKind::sparse ? Unmapped::sparse
                                                            : Unmapped::directory);
        table = entry.table;
    }
    const auto dual = read_dual(memory, format, table, format.dual().index(va));
    if (!dual)
        return unmapped(Unmapped::memory);
    if (dual->kind == EntryKind::page)
        return found(dual->page, format.dual().span(), va);
    if (dual->kind != EntryKind::table)
        return unmapped(dual->kind == EntryKind::sparse ? Unmapped::sparse : Unmapped::directory);
    return walk_tables(memory, format, dual->tables, va);
}

void leaves(const Memory &memory, const Format &format, PhysicalAddress root,
            const std::function<bool(const Leaf &)> &visit) {
    LeafWalker(memory, format, visit).directory(0, root, 0);
}

} // namespace nvmodel::mmu
