// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file How a program ends, so that scripts and service managers can tell what helps.
#pragma once

#include <cerrno>

namespace nvdebug::base::exit_status {

/// The same number means the same in each program that has these statuses. A service manager starts
/// the program again after `failed` alone: 1 to 3 take a person, 0 and 4 are an end as it was asked
/// for.
enum Exit {
    done = 0,
    bad_usage = 1,     ///< what was typed, or the file, makes no sense
    refused = 2,       ///< it is not possible, or not permitted, beside what there is: goals that
                       ///< cannot be kept together, a set that cannot be scheduled, another
                       ///< program that has it, missing rights
    not_supported = 3, ///< this machine can never do it: no driver, a GPU that is not supported
    partial = 4,       ///< it was done in part, or a goal was not kept
    failed = 5,        ///< it may work later: a GPU that is lost, a time-out, a full disk
};

/// Returns the status of a program that cannot read or write a file which was named.
/// @param error errno; 0: the file was read, and its text makes no sense
inline Exit of_file(int error) {
    switch (error) {
    case 0:
    case EINVAL:
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case ENOENT:
    case ENOTDIR:
        return bad_usage;
    case EACCES:
    case EPERM:
    case EROFS:
        return refused;
    default:
        return failed;
    }
}

} // namespace nvdebug::base::exit_status
