// SPDX-License-Identifier: MIT OR GPL-2.0
// Files that appear only when they are complete, on tmpfs, which has files without a name.
#include "lib/base/new_file.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <sys/inotify.h>
#include <unistd.h>
#include <vector>

namespace {

using nvdebug::base::NewFile;
namespace fs = std::filesystem;

class NewFiles : public testing::Test {
  protected:
    NewFiles() : folder("/dev/shm/nvdebug-new-" + std::to_string(::getpid())) {
        fs::create_directory(folder);
    }
    ~NewFiles() override { fs::remove_all(folder); }

    [[nodiscard]] std::set<std::string> names() const {
        std::set<std::string> all;
        for (const auto &entry : fs::directory_iterator(folder))
            all.insert(entry.path().filename());
        return all;
    }
    static std::string text(const fs::path &path) {
        std::ifstream in(path);
        return {std::istreambuf_iterator(in), {}};
    }
    static void write(const NewFile &file, const std::string &text) {
        ASSERT_EQ(::write(file.descriptor(), text.data(), text.size()),
                  static_cast<ssize_t>(text.size()));
    }

    /// Returns the names that appeared in the folder by a rename since the watch began.
    static std::vector<std::string> renamed(int watch) {
        alignas(inotify_event) char events[4096];
        std::vector<std::string> all;
        const ssize_t bytes = ::read(watch, events, sizeof(events));
        for (ssize_t at = 0; at < bytes;) {
            const auto *const event = reinterpret_cast<const inotify_event *>(events + at);
            if (event->mask & IN_MOVED_TO)
                all.emplace_back(event->name);
            at += static_cast<ssize_t>(sizeof(*event) + event->len);
        }
        return all;
    }

    const fs::path folder;
};

/// A process that is killed before leaves nothing behind.
TEST_F(NewFiles, HaveNoNameUntilTheyAppear) {
    auto file = NewFile::make(folder / "one");
    ASSERT_TRUE(file);
    write(*file, "whole");
    EXPECT_EQ(names(), std::set<std::string>{});
    ASSERT_EQ(file->appear(), 0);
    EXPECT_EQ(names(), std::set<std::string>{"one"});
    EXPECT_EQ(text(folder / "one"), "whole");
    EXPECT_EQ(fs::status(folder / "one").permissions(),
              fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(NewFiles, ReplaceWhatIsThere) {
    std::ofstream(folder / "one") << "old";
    auto file = NewFile::make(folder / "one");
    ASSERT_TRUE(file);
    write(*file, "new");
    EXPECT_EQ(text(folder / "one"), "old");
    ASSERT_EQ(file->appear(), 0);
    EXPECT_EQ(names(), std::set<std::string>{"one"});
    EXPECT_EQ(text(folder / "one"), "new");
}

/// Container daemons take up renamed files of CDI and ignore created ones.
TEST_F(NewFiles, AppearByARenameWhetherOneIsThereOrNot) {
    const int watch = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    ASSERT_GE(::inotify_add_watch(watch, folder.c_str(), IN_MOVED_TO | IN_CREATE), 0);
    for (const char *const text : {"first", "second"}) {
        auto file = NewFile::make(folder / "one");
        ASSERT_TRUE(file);
        write(*file, text);
        ASSERT_EQ(file->appear(), 0);
        EXPECT_EQ(renamed(watch), std::vector<std::string>{"one"}) << text;
        EXPECT_EQ(names(), std::set<std::string>{"one"}) << text;
    }
    ::close(watch);
}

TEST_F(NewFiles, VanishUnlessTheyAppear) {
    std::ofstream(folder / "one") << "old";
    {
        auto file = NewFile::make(folder / "one");
        ASSERT_TRUE(file);
        write(*file, "new");
        const NewFile moved(std::move(*file));
    }
    EXPECT_EQ(names(), std::set<std::string>{"one"});
    EXPECT_EQ(text(folder / "one"), "old");
}

TEST_F(NewFiles, DoNotReplaceAFolder) {
    fs::create_directory(folder / "one");
    auto file = NewFile::make(folder / "one");
    ASSERT_TRUE(file);
    EXPECT_EQ(file->appear(), EISDIR);
    file = tl::unexpected(0);
    EXPECT_EQ(names(), std::set<std::string>{"one"});
}

TEST_F(NewFiles, NeedTheirFolder) {
    const auto file = NewFile::make(folder / "none" / "one");
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error(), ENOENT);
}

} // namespace
