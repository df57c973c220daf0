// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Exit statuses, and the results of functions that may fail with one.
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

/// Returns the exit status to which an error leads. Only after `failed` does it help to try again
/// later.
inline Exit exit_of(const nvdebug::Error &error) {
    if (error.number == ENOSPC || error.number == EDQUOT)
        return failed;
    if (error.number == EISDIR || error.number == ENOTDIR)
        return bad_usage; // the user typed such a name
    if (error.code == nvdebug::ErrorCode::not_found && error.path == "/dev/nvidiactl")
        return not_supported; // NVIDIA's driver is not loaded
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

/// An error of the library, with the exit status to which it leads.
struct Failure {
    Exit exit;
    nvdebug::Error error;

    Failure(nvdebug::Error why) : exit(exit_of(why)), error(std::move(why)) {}
    Failure(Exit status, nvdebug::Error why) : exit(status), error(std::move(why)) {}
};

template <typename T>
using Outcome = tl::expected<T, Failure>;

/// Fails because the user typed something that makes no sense. Nothing was read or changed.
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

/// Returns whether this chip has no such thing, so that nothing is missing from an answer.
/// EOPNOTSUPP means something else: the thing exists, but cannot be read here.
inline bool is_absent(const nvdebug::Error &error) {
    return error.code == nvdebug::ErrorCode::unsupported && error.number != EOPNOTSUPP;
}

/// Returns a sentence for each error. Errors that differ only in their file share a sentence.
[[nodiscard]] std::vector<std::string> sentences_of(const std::vector<nvdebug::Error> &errors);

} // namespace nvdebugctl
