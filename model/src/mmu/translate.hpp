// SPDX-License-Identifier: MIT OR GPL-2.0
// The MMU's view of page tables in memory: where a virtual address leads.
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
    PageAddress at; // of the very byte
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
    Unmapped why = Unmapped::page; // if there is none
};

Walk translate(const Memory &memory, const Format &format, PhysicalAddress root, std::uint64_t va);

struct Leaf {
    std::uint64_t va = 0;
    std::uint64_t page_size = 0;
    PageAddress at;
    PageFlags flags;

    bool operator==(const Leaf &) const = default;
};

/// Calls `visit` for each page, by rising virtual address, until it returns false.
void leaves(const Memory &memory, const Format &format, PhysicalAddress root,
            const std::function<bool(const Leaf &)> &visit);

} // namespace nvmodel::mmu
