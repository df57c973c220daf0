// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include "blocks/register_block.hpp"
#include "board/board.hpp"
#include "host/host.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace nvmodel {

/// NV_CE: the wiring between physical and logical copy engines, and the speed that follows from it.
/// A driver may rewire at any time.
class CopyBlock : public RegisterBlock, public CopyThroughput {
  public:
    ReadAnswer read(std::uint32_t offset) override;
    Answer write(std::uint32_t offset, std::uint32_t value) override;

    /// Called after the wiring was written.
    void on_rewiring(std::function<void()> callback) { rewired_ = std::move(callback); }

    /// Returns the speed of an LCE: each running LCE gets an equal part of every PCE that works for
    /// it.
    [[nodiscard]] double share(unsigned lce, std::uint32_t running) const override;

    /// PCEs that work for an LCE: its own, or for a sharing GRCE the other LCE's. Bits from 32 on
    /// are PCEs of a second die.
    [[nodiscard]] std::uint64_t pces_of(unsigned lce) const;

    /// Makes the form that the board's generation has, wired as the board's driver wires it.
    static std::unique_ptr<CopyBlock> make(const Board &board);

  protected:
    explicit CopyBlock(const Board &board);

    /// The stored register at an offset, or nullptr.
    virtual std::uint32_t *find(std::uint32_t offset) = 0;
    /// The LCE that a PCE works for.
    [[nodiscard]] virtual std::optional<unsigned> lce_of_pce(unsigned pce) const = 0;
    /// The LCE from which a GRCE borrows PCEs.
    [[nodiscard]] virtual std::optional<unsigned> lent_to_grce(unsigned grce) const = 0;

  private:
    const Board &board_;
    std::uint32_t pce_map_;
    std::function<void()> rewired_;
};

} // namespace nvmodel
