// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Exit statuses, by which scripts and service managers decide what helps.
#pragma once

#include <cerrno>

namespace nvdebug::base::exit_status {

/// A number means the same in each program that has these statuses. A service manager starts the
/// program again after `failed` alone: 1 to 3 need a person, and after 0 and 4 the program ended as
/// requested.
enum Exit {
    done = 0,
    bad_usage = 1,     ///< the command line, or a file that it names, is wrong
    refused = 2,       ///< the request is impossible or not permitted in the present state: goals
                       ///< that cannot be kept together, a set that cannot be scheduled, a GPU that
                       ///< another program has claimed, missing rights
    not_supported = 3, ///< this machine can never do it: no driver, a GPU that is not supported
    partial = 4,       ///< some of the request was done, or a goal was not kept
    failed = 5,        ///< a later try may succeed: a GPU that is lost, a time-out, a full disk
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
