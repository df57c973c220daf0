// SPDX-License-Identifier: MIT OR GPL-2.0
// The name of a program in messages with the line `sudo PROGRAM` for the user to type.
#include "lib/base/sudo.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

using nvdebug::base::name_for_root;

namespace {

class NameForRoot : public testing::Test {
  protected:
    NameForRoot() {
        for (const char *const folder : {"bin", "sbin"})
            std::filesystem::create_directories(root_ + "/" + folder);
    }
    ~NameForRoot() override { std::filesystem::remove_all(root_); }

    void install(const std::string &file) const {
        std::ofstream(root_ + "/" + file) << "#!/bin/sh\n";
        std::filesystem::permissions(root_ + "/" + file, std::filesystem::perms::owner_all);
    }
    std::string path() const { return root_ + "/sbin:" + root_ + "/bin"; }

  private:
    std::string root_ = testing::TempDir() + "name_for_root." + std::to_string(getpid());
};

TEST_F(NameForRoot, IsTheFullPathBeforeTheProgramIsInstalled) {
    EXPECT_EQ(name_for_root("nvqos", "/src/build/bin/nvqos", path()), "/src/build/bin/nvqos");
    EXPECT_EQ(name_for_root("nvqos", "/src/bin/nvqos-static", path()), "/src/bin/nvqos-static");
    EXPECT_EQ(name_for_root("nvqos", "/my src/it's/nvqos", path()), R"('/my src/it'\''s/nvqos')");
}

TEST_F(NameForRoot, IsTheNameWhereRootsPathHasIt) {
    install("bin/nvqos");
    EXPECT_EQ(name_for_root("nvqos", "/src/build/bin/nvqos", path()), "nvqos");
    EXPECT_EQ(name_for_root("nvdebugctl", "/src/build/bin/nvdebugctl", path()),
              "/src/build/bin/nvdebugctl");
}

TEST_F(NameForRoot, StaysTheNameInAnotherProgram) {
    EXPECT_EQ(name_for_root("nvqos", "/usr/bin/python3.11", path()), "nvqos");
    EXPECT_EQ(name_for_root("nvqos", "", path()), "nvqos");
}

} // namespace
