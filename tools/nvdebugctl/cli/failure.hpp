// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Exit statuses, and results of verbs that may be a reason to end with one.
#pragma once

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "nvdebug/error.hpp"
#include "nvdebug/expected.hpp"

namespace nvdebugctl {

enum Exit { done = 0, bad_usage = 1, failed = 2, not_supported = 3, partial = 4 };

/// A library's error with the exit status it leads to.
struct Failure {
    Exit exit;
    nvdebug::Error error;

    Failure(nvdebug::Error why)
        : exit(why.code == nvdebug::ErrorCode::unsupported ? not_supported : failed),
          error(std::move(why)) {}
    Failure(Exit status, nvdebug::Error why) : exit(status), error(std::move(why)) {}
};

template <typename T>
using Outcome = tl::expected<T, Failure>;

/// The user typed something that makes no sense; nothing was read or changed.
inline tl::unexpected<Failure> usage(std::string sentence) {
    return tl::unexpected(
        Failure(bad_usage, {nvdebug::ErrorCode::invalid, 0, "", std::move(sentence)}));
}

inline tl::unexpected<Failure> fail(nvdebug::ErrorCode code, std::string sentence) {
    return tl::unexpected(Failure({code, 0, "", std::move(sentence)}));
}

/// This chip has no such thing, so that nothing is missing. EOPNOTSUPP is of what is there, and
/// cannot be read here.
inline bool is_absent(const nvdebug::Error &error) {
    return error.code == nvdebug::ErrorCode::unsupported && error.number != EOPNOTSUPP;
}

/// A sentence for each error, but only one for those that differ in nothing but their file.
[[nodiscard]] std::vector<std::string> sentences_of(const std::vector<nvdebug::Error> &errors);

} // namespace nvdebugctl
