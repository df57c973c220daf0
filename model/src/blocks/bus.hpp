// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "base/bits.hpp"
#include "blocks/register_block.hpp"
#include "board/board.hpp"
#include "memory/aperture.hpp"

#include <memory>
#include <optional>

namespace nvmodel {

/// The state of BAR1's or BAR2's instance-block registers, in the form that a generation has.
struct BarBinding {
    bool translated = false;    // virtual mode: through the page tables of the instance block
    std::uint32_t target = 0;   // the instance block's aperture, as written
    std::uint64_t instance = 0; // the instance block's address
    bool debug_cya = false;     // BAR2 up to Ada: bit 30
};

/// The values of the window and BAR registers, and their meaning for memory apertures.
class BusState {
  public:
    std::uint32_t window = 0; // as written; from Hopper on without a target
    BarBinding bar1;
    BarBinding bar2;

    /// Translates an offset into the PRAMIN aperture; nothing if the target is undefined.
    [[nodiscard]] std::optional<PhysicalAddress> behind_window(std::uint32_t offset) const;
};

/// The register that places the PRAMIN window.
std::unique_ptr<RegisterBlock> make_window(const Generation &generation, BusState &state);

/// The BAR registers in PBUS (up to Ada; from Turing on aliases), or none.
std::unique_ptr<RegisterBlock> make_pbus(const Generation &generation, BusState &state);

/// The BAR registers in the function page (from Turing on), or nullptr.
std::unique_ptr<RegisterBlock> make_function_page(const Generation &generation, BusState &state);

} // namespace nvmodel
