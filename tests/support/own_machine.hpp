// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Keeps a test program apart from others that run at the same time.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <string>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

namespace driver_test {

/// Gives this program a /run and abstract sockets of its own. Programs that give shares of a GPU
/// lock a file in /run, and all tests have the same GPU. A mark goes to each recorder on the
/// machine. If the program may not have its own, it takes a lock, so that test programs use the
/// machine's one after the other.
class OwnMachine : public testing::Environment {
  public:
    void SetUp() override {
        if (::unshare(CLONE_NEWNS | CLONE_NEWNET) == 0 &&
            ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
            ::mount("none", "/run", "tmpfs", 0, nullptr) == 0)
            return;
        const std::string path = testing::TempDir() + "nvdebug-tests-" + std::to_string(::getuid());
        const int file = ::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR);
        ASSERT_EQ(::flock(file, LOCK_EX), 0) << path; // the lock is held until this program ends
    }
};

inline testing::Environment *const own_machine =
    testing::AddGlobalTestEnvironment(new OwnMachine());

} // namespace driver_test
