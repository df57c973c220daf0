// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Failures: a sentence, and the exit status that follows from it.
#pragma once

#include <functional>
#include <string>

#include "lib/base/exit_status.hpp"
#include "nvdebug/error.hpp"
#include "nvdebug/expected.hpp"

namespace nvqos {

using nvdebug::base::exit_status::Exit;
using enum nvdebug::base::exit_status::Exit;
using nvdebug::base::exit_status::of_file;

struct Failure {
    Exit exit;
    std::string sentence;
    bool ends_all = false; ///< a failure of one GPU that also ends the goals on all others
};

template <typename T>
using Outcome = tl::expected<T, Failure>;

inline tl::unexpected<Failure> fail(Exit exit, std::string sentence) {
    return tl::unexpected(Failure{exit, std::move(sentence)});
}

inline tl::unexpected<Failure> fail(const nvdebug::Error &error) {
    return fail(error.code == nvdebug::ErrorCode::unsupported ? not_supported
                : error.code == nvdebug::ErrorCode::denied    ? refused
                                                              : failed,
                error.sentence);
}

/// Prints a line on stderr.
void warn(const std::string &sentence);

/// A function that prints a warning.
using Warn = std::function<void(const std::string &)>;

} // namespace nvqos
