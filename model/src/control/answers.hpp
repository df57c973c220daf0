// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include <string>
#include <string_view>

namespace nvmodel {

/// Answers requests from a control socket.
class Answers {
  public:
    virtual ~Answers() = default;

    /// Answers one line with one line of JSON (without the newline). Never throws ConfigError.
    virtual std::string answer(std::string_view line) = 0;
};

} // namespace nvmodel
