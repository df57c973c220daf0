// SPDX-License-Identifier: MIT OR GPL-2.0
// Registers, many in a call: a call of the driver takes 0.1 ms, each register in it 2 to 5 us.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "words.hpp"

namespace nvdebug::driver {

/// Reads what is likely to be asked for next together with what is asked for: what was announced,
/// and what the last read of the same file took. Each read of a register is one of its own, and
/// none is older than the one before it.
class ReadAhead {
  public:
    /// Registers in the order in which they are read, and where memory is.
    using Plan = std::vector<std::uint32_t>;

    /// The read of a file begins. @p plan is the result of end() of its last read.
    void begin(Plan plan);
    /// What to begin() with when the file is read again.
    Plan end();

    Result<std::uint32_t> read(Words &words, std::uint32_t offset);
    /// The register will be read.
    void expect(std::uint32_t offset) { expected_.push_back(offset); }
    /// What was announced and not read is not asked for.
    void expect_no_more();
    /// Registers that are read after memory show whether it is still in the same place.
    void memory_is_read();

  private:
    bool foresaw(Words &words, std::uint32_t offset, std::uint32_t *value);
    bool was_announced(std::uint32_t offset, std::uint32_t *value);
    void drop();
    void skip_to(std::size_t at);

    std::vector<std::uint32_t> expected_;
    std::deque<std::pair<std::uint32_t, std::uint32_t>> announced_; // those that were read, values

    Plan plan_;
    std::size_t next_ = 0;              // in plan_
    std::vector<std::uint32_t> values_; // of plan_ from next_ on, those that were read
    std::size_t used_ = 0;              // of values_
    Plan asked_, kept_;                 // kept_: and what was planned and not asked for
};

} // namespace nvdebug::driver
