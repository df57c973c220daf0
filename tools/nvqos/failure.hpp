// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file How nvqos ends: as nvdebugctl(1) does, and with 4 if a goal was not kept.
#pragma once

#include <functional>
#include <string>

#include "nvdebug/error.hpp"
#include "nvdebug/expected.hpp"

namespace nvqos {

enum Exit { done = 0, bad_usage = 1, failed = 2, not_supported = 3, not_kept = 4 };

struct Failure {
    Exit exit;
    std::string sentence;
};

template <typename T>
using Outcome = tl::expected<T, Failure>;

inline tl::unexpected<Failure> fail(Exit exit, std::string sentence) {
    return tl::unexpected(Failure{exit, std::move(sentence)});
}

inline tl::unexpected<Failure> fail(const nvdebug::Error &error) {
    return fail(error.code == nvdebug::ErrorCode::unsupported ? not_supported : failed,
                error.sentence);
}

/// Prints a warning.
using Warn = std::function<void(const std::string &)>;

} // namespace nvqos
