// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file
/// @brief What went wrong, and results that may be that instead.
#pragma once

#include <string>

#include "nvdebug/expected.hpp"
#include "nvdebug/export.hpp"

namespace nvdebug {

enum class ErrorCode {
    not_found,   ///< no such file, GPU, runlist, channel … (ENOENT)
    denied,      ///< rights, kernel lockdown or `read_only` (EPERM, EACCES)
    gone,        ///< the GPU answers with all ones, or serves no such unit (ENODEV)
    unsupported, ///< this chip, module, capture or kernel cannot (EOPNOTSUPP)
    busy,        ///< what was read kept changing meanwhile (EBUSY)
    invalid,     ///< the request makes no sense here (EINVAL, ERANGE, E2BIG, ENOSPC)
    timeout,     ///< the hardware did not report completion; put back (ETIMEDOUT)
    io,          ///< a register or memory could not be read (EIO, EFAULT), or any other errno
    malformed,   ///< a file is there, but its text is not of the form in docs/proc.md
};

struct Error {
    ErrorCode code;
    int number;           ///< the errno, 0 if the kernel had no part in it
    std::string path;     ///< the file concerned, as the user would name it; may be empty
    std::string sentence; ///< what, where and what next; no full stop, no newline
};

/// Every function that can fail returns one; none throws, but for std::bad_alloc.
template <typename T>
using Result = tl::expected<T, Error>;

/// The code that stands for errno @p number.
NVDEBUG_API ErrorCode code_of_errno(int number);

/// The code's name as JSON spells it: `not_found`, …
NVDEBUG_API const char *name_of(ErrorCode code);

} // namespace nvdebug
