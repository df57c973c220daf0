// SPDX-License-Identifier: MIT OR GPL-2.0
#include "errno_name.hpp"

#include <cerrno>
#include <cstring>

namespace nvdebug {

std::string errno_name(int number) {
    // The C library calls it ENOTSUP, which Linux has as another name for the same number.
    if (number == EOPNOTSUPP)
        return "EOPNOTSUPP";
    const char *const name = ::strerrorname_np(number);
    return name ? name : std::to_string(number);
}

int errno_of_name(std::string_view name) {
    constexpr int highest = 133; // EHWPOISON
    for (int number = 1; number <= highest; number++)
        if (errno_name(number) == name)
            return number;
    return 0;
}

} // namespace nvdebug
