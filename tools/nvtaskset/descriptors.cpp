// SPDX-License-Identifier: MIT OR GPL-2.0
#include "descriptors.hpp"

#include <charconv>
#include <filesystem>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace nvtaskset {
namespace {

/// Closes descriptors one by one, on kernels before 5.9, which have no close_range().
void close_listed(int first) {
    std::vector<int> listed;
    std::error_code error;
    for (std::filesystem::directory_iterator at("/proc/self/fd", error), end; !error && at != end;
         at.increment(error)) {
        const std::string name = at->path().filename();
        int number = -1;
        std::from_chars(name.data(), name.data() + name.size(), number);
        if (number >= first)
            listed.push_back(number);
    }
    for (const int descriptor : listed)
        close(descriptor);
}

} // namespace

void close_all_but(int kept) {
    constexpr int first = STDERR_FILENO + 1;
    for (int number = first; number < kept; number++)
        close(number);
    const int next = kept < first ? first : kept + 1;
    if (syscall(SYS_close_range, static_cast<unsigned>(next), ~0U, 0) < 0)
        close_listed(next);
}

} // namespace nvtaskset
