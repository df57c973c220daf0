// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief Errors, and results that may be errors instead.
#pragma once

#include <string>

#include "nvdebug/expected.hpp"
#include "nvdebug/export.hpp"

namespace nvdebug {

/// The kind of an error, for programs that react to it.
enum class ErrorCode {
    not_found,   ///< no such file, GPU, runlist, channel … (ENOENT)
    denied,      ///< rights, kernel lockdown or `read_only` (EPERM, EACCES)
    gone,        ///< the GPU answers with all ones, or serves no such unit (ENODEV)
    unsupported, ///< this chip, module, capture or kernel lacks the function (EOPNOTSUPP)
    busy,        ///< the state kept changing while it was read (EBUSY)
    invalid,     ///< the request is wrong for this GPU (EINVAL, ERANGE, E2BIG, ENOSPC)
    timeout,     ///< the hardware did not report completion; the change was undone (ETIMEDOUT)
    io,          ///< a register or memory could not be read (EIO, EFAULT), or any other errno
    malformed,   ///< the file exists, but its text does not have the form in docs/proc.md
};

/// An error for a user.
struct Error {
    ErrorCode code;
    int number;           ///< the errno; 0 if no system call failed
    std::string path;     ///< the file as the user would name it; may be empty
    std::string sentence; ///< a sentence with what failed, where, and what to do next; without full
                          ///< stop and newline
};

/// The result of every function that can fail. These functions throw only std::bad_alloc.
template <typename T>
using Result = tl::expected<T, Error>;

/// Returns the code for errno @p number.
NVDEBUG_API ErrorCode code_of_errno(int number);

/// Returns the code's name as JSON spells it: `not_found`, …
NVDEBUG_API const char *name_of(ErrorCode code);

} // namespace nvdebug
