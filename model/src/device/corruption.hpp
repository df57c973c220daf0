// SPDX-License-Identifier: MIT OR GPL-2.0
// Flips bits in the driver's structures, and puts them back.
#pragma once

#include "memory/memory.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace nvmodel {

inline constexpr std::string_view structure_runlist = "runlist";
inline constexpr std::string_view structure_instance = "instance";
inline constexpr std::string_view structure_page_table = "page_table";
inline constexpr std::string_view structure_context = "context";

/// A piece of memory that holds a structure of some kind; a multiple of words.
struct Structure {
    std::string_view what;
    PhysicalAddress at;
    std::uint64_t size = 0;
};

class Corruption {
  public:
    struct Flip {
        std::string_view what;
        PhysicalAddress at; // place of the byte
        unsigned bit = 0;
    };

    /// Flips bits at places that the seed chooses. All kinds of structures are hit equally often.
    std::vector<Flip> flip(Memory &memory, const std::vector<Structure> &structures,
                           std::uint64_t seed, unsigned count);
    /// Puts all words back. A counter of a context keeps the counts that were added in between; a
    /// word that was written since stays.
    void undo(Memory &memory);
    /// Forgets the flips, when nothing can be put back any more.
    void forget() { changes_.clear(); }

  private:
    struct Change {
        PhysicalAddress at; // place of the word
        std::uint32_t before;
        std::uint32_t after;
        bool counts; // it may be a counter
    };
    std::vector<Change> changes_;
};

} // namespace nvmodel
