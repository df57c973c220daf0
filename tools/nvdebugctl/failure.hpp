// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Exit statuses, and results of verbs that may be a reason to end with one. */
#ifndef NVDEBUGCTL_FAILURE_HPP
#define NVDEBUGCTL_FAILURE_HPP

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "nvdebug/error.hpp"

namespace nvdebugctl {

enum Exit { done = 0, bad_usage = 1, failed = 2, not_supported = 3, partial = 4 };

/** A library's error with the exit status it leads to. */
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

/** The user typed something that makes no sense; nothing was read or changed. */
inline tl::unexpected<Failure> usage(std::string sentence) {
    return tl::unexpected(
        Failure(bad_usage, {nvdebug::ErrorCode::invalid, 0, "", std::move(sentence)}));
}

inline tl::unexpected<Failure> fail(nvdebug::ErrorCode code, std::string sentence) {
    return tl::unexpected(Failure({code, 0, "", std::move(sentence)}));
}

} // namespace nvdebugctl

#endif
