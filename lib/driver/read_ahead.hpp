// SPDX-License-Identifier: MIT OR GPL-2.0
// Reads many registers in one call, because a call of the driver takes 0.1 ms, and each register in
// it only 2 to 5 us.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "words.hpp"

namespace nvdebug::driver {

/// Reads the registers that are likely to be needed next together with the one that is needed: the
/// announced registers, and those that the last read of the same file needed. Two reads of a
/// register get two values, and the second value is not older than the first.
class ReadAhead {
  public:
    /// The registers in the order of their reads, with marks where memory is read.
    using Plan = std::vector<std::uint32_t>;

    /// Begins the read of a file. @p plan is the result of end() of the previous read of this file.
    void begin(Plan plan);
    /// Ends the read of a file. Returns the plan for its next read.
    Plan end();

    Result<std::uint32_t> read(Words &words, std::uint32_t offset);
    /// Announces that the register will be read.
    void expect(std::uint32_t offset) { expected_.push_back(offset); }
    /// Drops the announcements of registers that were not read.
    void expect_no_more();
    /// Drops the values that were read ahead, because registers that are read after memory have to
    /// show whether the memory is still in the same place.
    void memory_is_read();

  private:
    bool foresaw(Words &words, std::uint32_t offset, std::uint32_t *value);
    bool was_announced(std::uint32_t offset, std::uint32_t *value);
    void drop();
    void skip_to(std::size_t at);

    std::vector<std::uint32_t> expected_;
    std::deque<std::pair<std::uint32_t, std::uint32_t>> announced_; // offset and value of announced
                                                                    // registers that were read

    Plan plan_;
    std::size_t next_ = 0;              // index in plan_
    std::vector<std::uint32_t> values_; // the values that were read, of plan_ from next_ on
    std::size_t used_ = 0;              // how many of values_ were used
    Plan asked_, kept_;                 // kept_ also has the planned registers that were not needed
};

} // namespace nvdebug::driver
