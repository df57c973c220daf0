// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Failures: a sentence, and the exit status that follows from it.
#pragma once

#include <string>
#include <utility>

#include "lib/base/exit_status.hpp"
#include "nvdebug/expected.hpp"

namespace nvdebug::kubernetes {

using base::exit_status::Exit;
using base::exit_status::of_file;

struct Failure {
    Exit exit;
    std::string sentence;
};

template <typename T>
using Outcome = tl::expected<T, Failure>;

inline tl::unexpected<Failure> fail(Exit exit, std::string sentence) {
    return tl::unexpected(Failure{exit, std::move(sentence)});
}

/// Prints a line on stderr.
void log(const std::string &sentence);

/// Prints a sentence with log() unless it is the last one again.
class Logged {
  public:
    void operator()(const std::string &sentence) {
        if (sentence != last_)
            log(sentence);
        last_ = sentence;
    }
    void clear() { last_.clear(); }

  private:
    std::string last_;
};

} // namespace nvdebug::kubernetes
