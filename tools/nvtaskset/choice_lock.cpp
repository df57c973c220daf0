// SPDX-License-Identifier: MIT OR GPL-2.0
#include "choice_lock.hpp"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "lib/base/printable.hpp"
#include "lib/partition/folder.hpp"

namespace nvtaskset {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds patience{10};
constexpr std::chrono::milliseconds pause{20}, between_looks{500};

/// Returns the holder of the lock by /proc/locks, as `process 12 (nvtaskset)`.
std::string holder_of(const struct stat &file) {
    std::ifstream locks("/proc/locks");
    for (std::string line; std::getline(locks, line);) {
        int pid = 0;
        unsigned major_number = 0, minor_number = 0;
        unsigned long long inode = 0;
        // A holder has the line `1: FLOCK  ADVISORY  WRITE 1234 00:1a:5678 0 EOF`. A process that
        // waits has `->` before the kind, so that the line does not match.
        if (std::sscanf(line.c_str(), "%*d: FLOCK %*s %*s %d %x:%x:%llu", &pid, &major_number,
                        &minor_number, &inode) != 4 ||
            inode != file.st_ino || makedev(major_number, minor_number) != file.st_dev)
            continue;
        std::ifstream name("/proc/" + std::to_string(pid) + "/comm");
        std::string command;
        std::getline(name, command);
        return "process " + std::to_string(pid) +
               (command.empty() ? "" : " (" + nvdebug::base::printable(command) + ")");
    }
    return "another process";
}

} // namespace

Outcome<ChoiceLock> ChoiceLock::take() {
    const auto folder = Folder::open(runtime_path(), true);
    if (!folder)
        return fail(folder.error());
    const std::string path = folder->path() + "/lock";
    const int descriptor =
        openat(folder->descriptor(), "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (descriptor < 0)
        return fail("cannot open " + path + ": " + std::strerror(errno), Exit::failed);
    ChoiceLock lock(descriptor);
    struct stat file {};
    fstat(descriptor, &file);
    // Many tasks may start at once, so the patience begins again with each new holder.
    std::string holder;
    for (auto since = Clock::now(), looked = since; flock(descriptor, LOCK_EX | LOCK_NB) < 0;
         std::this_thread::sleep_for(pause)) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return fail("cannot lock " + path + ": " + std::strerror(errno), Exit::failed);
        const auto now = Clock::now();
        if (now - looked < between_looks)
            continue;
        looked = now;
        if (std::string current = holder_of(file); current != holder) {
            holder = std::move(current);
            since = now;
        } else if (now - since >= patience) {
            return fail(holder + " holds the lock " + path + " for more than " +
                        std::to_string(patience.count()) +
                        " s; if it is stopped, continue or end it");
        }
    }
    return lock;
}

ChoiceLock::ChoiceLock(ChoiceLock &&other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

ChoiceLock::~ChoiceLock() {
    if (descriptor_ >= 0)
        close(descriptor_);
}

} // namespace nvtaskset
