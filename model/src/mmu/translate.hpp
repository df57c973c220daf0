// SPDX-License-Identifier: MIT OR GPL-2.0
// Walks page tables in memory as the MMU does.
#pragma once

#include "memory/memory.hpp"
#include "mmu/format.hpp"
#include "mmu/page.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace nvmodel::mmu {

struct Translation {
    PageAddress at; // place of the byte itself
    std::uint64_t page_size = 0;
    PageFlags flags;
};

enum class Unmapped : std::uint8_t {
    beyond,    // the address has more bits than the format
    directory, // a directory entry leads nowhere
    page,      // the page's entry is invalid
    sparse,
    memory, // a table is where there is no memory
};

std::string_view name_of(Unmapped why);

struct Walk {
    std::optional<Translation> page;
    Unmapped why = Unmapped::page; // valid if there is no translation
};

Walk translate(const Memory &memory, const Format &format, PhysicalAddress root, std::uint64_t va);

struct Leaf {
    std::uint64_t va = 0;
    std::uint64_t page_size = 0;
    PageAddress at;
    PageFlags flags;

    bool operator==(const Leaf &) const = default;
};

/// Calls `visit` for each page, by rising virtual address, until `visit` returns false.
void leaves(const Memory &memory, const Format &format, PhysicalAddress root,
            const std::function<bool(const Leaf &)> &visit);

} // namespace nvmodel::mmu
