// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Exit statuses, and results of verbs that may be a reason to end with one.
#pragma once

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/exit_status.hpp"
#include "nvdebug/error.hpp"
#include "nvdebug/expected.hpp"

namespace nvdebugctl {

using nvdebug::base::exit_status::Exit;
using enum nvdebug::base::exit_status::Exit;

/// Returns the exit status to which an error leads. Trying again later helps against `failed`
/// alone.
inline Exit exit_of(const nvdebug::Error &error) {
    if (error.number == ENOSPC || error.number == EDQUOT)
        return failed;
    if (error.number == EISDIR || error.number == ENOTDIR)
        return bad_usage; // of a name that was typed
    if (error.code == nvdebug::ErrorCode::not_found && error.path == "/dev/nvidiactl")
        return not_supported; // there is no driver of NVIDIA's
    switch (error.code) {
    case nvdebug::ErrorCode::unsupported:
        return not_supported;
    case nvdebug::ErrorCode::gone:
    case nvdebug::ErrorCode::busy:
    case nvdebug::ErrorCode::timeout:
    case nvdebug::ErrorCode::io:
        return failed;
    default:
        return refused;
    }
}

/// A library's error with the exit status it leads to.
struct Failure {
    Exit exit;
    nvdebug::Error error;

    Failure(nvdebug::Error why) : exit(exit_of(why)), error(std::move(why)) {}
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

/// Returns the failure of a file that the user named: a capture, a recording, a folder or what is to
/// be written.
inline Failure of_named_file(nvdebug::Error why) {
    return {nvdebug::base::exit_status::of_file(why.number), std::move(why)};
}

inline tl::unexpected<Failure> malformed_file(const std::string &path, std::string sentence) {
    return tl::unexpected(
        of_named_file({nvdebug::ErrorCode::malformed, 0, path, std::move(sentence)}));
}

/// This chip has no such thing, so that nothing is missing. EOPNOTSUPP is of what is there, and
/// cannot be read here.
inline bool is_absent(const nvdebug::Error &error) {
    return error.code == nvdebug::ErrorCode::unsupported && error.number != EOPNOTSUPP;
}

/// A sentence for each error, but only one for those that differ in nothing but their file.
[[nodiscard]] std::vector<std::string> sentences_of(const std::vector<nvdebug::Error> &errors);

} // namespace nvdebugctl
