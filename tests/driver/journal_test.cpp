// SPDX-License-Identifier: MIT OR GPL-2.0
// Checks the files in which keepers write changes down, and restoring from them after the keepers
// were killed. The program has a /run of its own, and keepers are really forked.
#include "steering.hpp"

#include "lib/base/process.hpp"
#include "lib/base/runtime_folder.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

namespace driver_test {
namespace {

namespace fs = std::filesystem;
using nvdebug::ErrorCode;
using nvdebug::TaskHold;
using nvdebug::TaskState;
using std::chrono::milliseconds;

class Journal : public Steering {
  protected:
    Journal() { fs::remove_all(folder); }
    ~Journal() override {
        EXPECT_TRUE(comes_true([&] { return keepers().empty(); }));
        fs::remove_all(folder);
    }

    static std::vector<fs::path> files() {
        std::vector<fs::path> found;
        std::error_code none;
        for (const auto &entry : fs::directory_iterator(folder, none))
            if (entry.path().filename().native().find("changes-") != std::string::npos)
                found.push_back(entry.path());
        return found;
    }
    static std::string text_of(const fs::path &path) {
        std::ifstream file(path);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    static void write(const fs::path &path, const std::string &text) {
        std::ofstream(path, std::ios::binary) << text;
        fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
    }
    static std::string replaced(std::string text, const std::string &what,
                                const std::string &with) {
        const auto at = text.find(what);
        EXPECT_NE(at, text.npos) << text;
        return at == text.npos ? text : text.replace(at, what.size(), with);
    }

    /// Runs @p work in another program, and kills that program and its keepers at once.
    template <typename Work>
    void killed_with_keepers(Work work) {
        ASSERT_TRUE(gpu.owners());
        const auto others = keepers();
        const pid_t owner = start_owner(work);
        ASSERT_GT(owner, 0);
        // Neither must notice the end of the other, so the owner is stopped first.
        ::kill(owner, SIGSTOP);
        auto own = keepers();
        std::erase_if(own, [&](pid_t one) { return others.contains(one); });
        kill_at_once(own);
        kill_owner(owner);
    }
    /// Leaves a hold of both processes, with 512 us and a pause.
    void leave_a_hold() {
        killed_with_keepers([&](const auto &wait) {
            const std::vector<std::uint32_t> pids = {557, 558};
            const auto held = gpu.hold(pids, {.patience = milliseconds(60'000)});
            if (held && (*held)->ask({.timeslice_ns = 512'000, .paused = true}) &&
                (*held)->finish())
                wait();
        });
        ASSERT_EQ(enabled(), (std::vector<bool>{false, false, false, false, true, true}));
        ASSERT_EQ(files().size(), 1U);
    }
    /// Returns how many calls changed something. Closing a descriptor is no change.
    std::size_t changes() const {
        const auto all = kernel.changes();
        return static_cast<std::size_t>(std::ranges::count_if(
            all, [](const auto &change) { return change.command != StandIn::closed; }));
    }
    bool is_as_before() { return enabled() == all_on && timeslices_us() == before; }

    static inline const fs::path folder = nvdebug::base::runtime_folder;
    const std::vector<std::uint64_t> before = timeslices_us();
    const TaskState changed{.timeslice_ns = 512'000, .paused = true};
};

TEST_F(Journal, HasTheChangesAndBelongsToRoot) {
    fs::create_directory(folder);
    fs::permissions(folder, fs::perms(0755));
    auto held = hold({557});
    ASSERT_EQ(files().size(), 1U) << "before the first change";
    struct stat about {};
    ASSERT_EQ(::stat(files()[0].c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 07777, 0600U);
    ASSERT_EQ(::stat(folder.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 07777, 0700U);
    put(*held, changed);
    const std::string text = text_of(files()[0]);
    const auto &first_channel = held->channels()[0];
    char line[128];
    std::snprintf(line, sizeof(line), "\nchannel 557 10 0x%x 0x%x 1\n", first_channel.client,
                  first_channel.channel);
    EXPECT_NE(text.find(line), text.npos) << text;
    EXPECT_NE(text.find(" 00000000000000002000\n"), text.npos) << text;
    const auto state = nvdebug::base::state_of(static_cast<std::uint32_t>(keeper()));
    ASSERT_TRUE(state);
    std::snprintf(line, sizeof(line), "\nkeeper %020u %020llu ", state->birth.pid,
                  static_cast<unsigned long long>(state->birth.started));
    EXPECT_NE(text.find(line), text.npos) << text;
    put(*held, {});
    EXPECT_EQ(files().size(), 1U) << "a hold may change it again";
    held.reset();
    EXPECT_TRUE(files().empty());
}

TEST_F(Journal, IsEmptyAfterEachEnd) {
    for (const auto &request : {pause({557}), timeslice({557, 558}, 512)}) {
        auto lease = gpu.lease(request);
        ASSERT_TRUE(lease);
        EXPECT_EQ(files().size(), 1U);
        lease->end();
        EXPECT_TRUE(files().empty());
        ASSERT_TRUE(lease = gpu.lease(request));
        kill_keepers();
        lease->end();
        EXPECT_TRUE(files().empty());
    }
    auto held = hold({557});
    put(*held, changed);
    kill_keepers();
    EXPECT_FALSE(held->ask({}).and_then([&] { return held->finish(); }));
    EXPECT_TRUE(files().empty());
    held = hold({558});
    put(*held, changed);
    kernel.end_process(558);
    held.reset();
    EXPECT_TRUE(comes_true([&] { return files().empty(); }));
    EXPECT_TRUE(gpu.perform(timeslice({557}, 700)));
    EXPECT_TRUE(files().empty()) << "what is not to be undone is not written down";
}

TEST_F(Journal, KeepsAnUndoThatTheDriverRefuses) {
    auto lease = gpu.lease(pause({557}));
    ASSERT_TRUE(lease);
    kernel.refuse_from(1, 1'000'000);
    lease->end();
    ASSERT_EQ(files().size(), 1U);
    const auto left = gpu.left_overs();
    ASSERT_TRUE(left);
    EXPECT_TRUE(left->tasks.empty()) << "its keeper lives";
    kernel.refuse_from(1'000'000'000);
    EXPECT_TRUE(comes_true([&] { return files().empty(); }));
    EXPECT_EQ(enabled(), all_on);
}

// --- two keepers of one task ---

/// Two holds change one task alternately, and end in either order.
class TwoHolds : public Journal, public testing::WithParamInterface<std::pair<bool, bool>> {};

TEST_P(TwoHolds, RestoreTheFirstTimeslice) {
    const auto [late, first_ends_first] = GetParam();
    auto one = hold({557});
    std::unique_ptr<TaskHold> two;
    if (!late)
        two = hold({557});
    put(*one, {.timeslice_ns = 512'000, .paused = true});
    if (late)
        two = hold({557});
    for (int n = 0; n < 3; n++) {
        put(*two, {.timeslice_ns = 700'000, .paused = n == 1});
        put(*one, {.timeslice_ns = 512'000, .paused = n != 1});
    }
    put(*two, {.timeslice_ns = 700'000, .paused = true});
    (first_ends_first ? one : two).reset();
    (first_ends_first ? two : one).reset();
    EXPECT_EQ(timeslices_us(), before);
    EXPECT_EQ(enabled(), all_on);
    EXPECT_TRUE(files().empty());
}

INSTANTIATE_TEST_SUITE_P(Orders, TwoHolds,
                         testing::Values(std::pair(false, false), std::pair(false, true),
                                         std::pair(true, false), std::pair(true, true)));

TEST_F(Journal, TwoLeasesEndWithTheFirstTimeslice) {
    auto one = gpu.lease(timeslice({557}, 512));
    auto two = gpu.lease(timeslice({557}, 700));
    ASSERT_TRUE(one && two);
    one->end();
    two->end();
    EXPECT_EQ(timeslices_us(), before);
}

TEST_F(Journal, ALeaseOfAHeldTaskEndsWithTheFirstValues) {
    auto held = hold({557});
    put(*held, changed);
    auto lease = gpu.lease(pause({557}));
    ASSERT_TRUE(lease) << lease.error().sentence;
    auto set = gpu.lease(timeslice({557}, 700));
    ASSERT_TRUE(set) << set.error().sentence;
    held.reset();
    lease->end();
    set->end();
    EXPECT_TRUE(is_as_before());
}

/// CUDA sets the timeslice of its own TSG, which no other journal entry has.
TEST_F(Journal, HasTheTimesliceThatTheProcessHasSet) {
    auto held = hold({557});
    put(*held, {.timeslice_ns = 512'000});
    for (auto &[name, object] : kernel.others[first])
        if (object.object_class == rm::class_tsg)
            kernel.set_timeslice(first, name, 8000);
    put(*held, {.timeslice_ns = 512'000});
    ASSERT_EQ(files().size(), 1U);
    EXPECT_NE(text_of(files()[0]).find(" 00000000000000008000\n"), std::string::npos);
}

// --- owner and keeper killed at once ---

TEST_F(Journal, NamesAndRestoresLeftOvers) {
    leave_a_hold();
    const auto left = gpu.left_overs();
    ASSERT_TRUE(left);
    ASSERT_EQ(left->tasks.size(), 2U);
    EXPECT_EQ(left->tasks[0].pid, 557U);
    EXPECT_EQ(left->tasks[0].command, "one");
    EXPECT_EQ(left->tasks[0].channels, 2U);
    EXPECT_EQ(left->tasks[0].tsgs, 1U);
    EXPECT_FALSE(left->tasks[0].restored);
    EXPECT_EQ(enabled()[0], false) << "a look changes nothing";
    const auto restored = gpu.restore({});
    ASSERT_TRUE(restored) << restored.error().sentence;
    ASSERT_EQ(restored->tasks.size(), 2U);
    EXPECT_TRUE(restored->tasks[0].restored && restored->tasks[1].restored);
    EXPECT_TRUE(restored->troubles.empty());
    EXPECT_TRUE(is_as_before());
    EXPECT_TRUE(files().empty());
    EXPECT_TRUE(gpu.restore({})->tasks.empty());
}

TEST_F(Journal, RestoresOnlyNamedProcesses) {
    for (const std::uint32_t pid : {557U, 558U})
        killed_with_keepers([&](const auto &wait) {
            const auto lease = gpu.lease(pause({pid}));
            if (lease)
                wait();
        });
    const std::vector<std::uint32_t> one = {558};
    ASSERT_EQ(gpu.restore(one)->tasks.size(), 1U);
    EXPECT_EQ(enabled(), (std::vector<bool>{false, false, true, true, true, true}));
    EXPECT_EQ(files().size(), 1U);
    ASSERT_TRUE(gpu.restore({}));
    EXPECT_TRUE(is_as_before());
}

TEST_F(Journal, LeasesOfEachKindAreRestored) {
    for (const auto &request :
         {pause({557}), timeslice({557, 558}, 512), nvdebug::disable_channels({{0, 0}})}) {
        killed_with_keepers([&](const auto &wait) {
            const auto lease = gpu.lease(request);
            if (lease)
                wait();
        });
        ASSERT_EQ(files().size(), 1U);
        EXPECT_FALSE(is_as_before());
        ASSERT_TRUE(gpu.restore({}));
        EXPECT_TRUE(is_as_before());
        EXPECT_TRUE(files().empty());
    }
}

TEST_F(Journal, ALeftOverOfAResumeIsDisabledAgain) {
    ASSERT_TRUE(gpu.perform(pause({557})));
    killed_with_keepers([&](const auto &wait) {
        const auto lease = gpu.lease(nvdebug::resume_tasks(std::vector<std::uint32_t>{557}));
        if (lease)
            wait();
    });
    ASSERT_EQ(enabled(), all_on);
    ASSERT_TRUE(gpu.restore({}));
    EXPECT_EQ(enabled(), (std::vector<bool>{false, false, true, true, true, true}));
}

/// A hold, a lease and a control restore a left-over first, because its values are not the original
/// ones.
TEST_F(Journal, TheNextUserOfATaskRestoresItFirst) {
    leave_a_hold();
    auto held = hold({557});
    EXPECT_TRUE(is_as_before());
    put(*held, changed);
    put(*held, {});
    EXPECT_EQ(enabled(), all_on);
    held.reset();
    EXPECT_TRUE(is_as_before());
    leave_a_hold();
    auto lease = gpu.lease(pause({558}));
    ASSERT_TRUE(lease) << lease.error().sentence;
    EXPECT_EQ(enabled(), (std::vector<bool>{true, true, false, false, true, true}));
    lease->end();
    EXPECT_TRUE(is_as_before());
    leave_a_hold();
    EXPECT_TRUE(gpu.perform(timeslice({557}, 700)));
    EXPECT_EQ(enabled(), all_on);
    EXPECT_EQ(timeslices_us()[1], before[1]);
    EXPECT_TRUE(files().empty());
}

TEST_F(Journal, ARestoreThatIsRefusedIsRepeated) {
    for (const std::uint64_t times : {1, 25}) {
        leave_a_hold();
        kernel.refuse_from(1, times);
        const auto restored = gpu.restore({});
        ASSERT_TRUE(restored);
        EXPECT_EQ(restored->troubles.empty(), times == 1);
        if (times > 1) {
            EXPECT_NE(restored->troubles[0].find("nvdebugctl task resume 557"), std::string::npos);
            EXPECT_FALSE(restored->tasks[0].restored);
        }
        EXPECT_TRUE(comes_true([&] { return is_as_before() && files().empty(); }));
        EXPECT_EQ(kernel.refused(), times);
    }
}

TEST_F(Journal, LeavesChangesToALivingKeeper) {
    auto held = hold({557});
    put(*held, changed);
    killed_with_keepers([&](const auto &wait) {
        const std::vector<std::uint32_t> pids = {557, 558};
        const auto other = gpu.hold(pids, {.patience = milliseconds(60'000)});
        if (other && (*other)->ask({.timeslice_ns = 512'000, .paused = true}) && (*other)->finish())
            wait();
    });
    ASSERT_EQ(files().size(), 2U);
    ASSERT_EQ(gpu.restore({})->tasks.size(), 1U);
    EXPECT_EQ(files().size(), 1U);
    EXPECT_EQ(enabled(), (std::vector<bool>{false, false, true, true, true, true}));
    held.reset();
    EXPECT_TRUE(is_as_before() && files().empty());
}

/// Otherwise each hold that cannot be undone would leave one more keeper.
TEST_F(Journal, NothingMoreIsChangedWhileAnUndoIsRefused) {
    auto held = hold({557});
    put(*held, changed);
    kernel.refuse_from(1, 1'000'000);
    held.reset();
    const auto keeping = keepers();
    ASSERT_EQ(keeping.size(), 1U);
    for (int n = 0; n < 3; n++) {
        expect_error(gpu.hold(std::vector<std::uint32_t>{557}), ErrorCode::busy,
                     "nvdebug-keeper, process " + std::to_string(*keeping.begin()));
        expect_error(gpu.lease(timeslice({557}, 700)), ErrorCode::busy,
                     "one[557] is still changed");
    }
    EXPECT_EQ(keepers(), keeping);
    EXPECT_EQ(files().size(), 1U);
    EXPECT_TRUE(hold({558})) << "another task";
    kernel.refuse_from(1'000'000'000);
    // The message of a refused hold advises this request.
    EXPECT_TRUE(gpu.perform(nvdebug::resume_tasks(std::vector<std::uint32_t>{557})));
    EXPECT_EQ(enabled(), all_on);
    EXPECT_TRUE(comes_true([&] { return is_as_before() && files().empty(); }));
    EXPECT_TRUE(hold({557}));
}

TEST_F(Journal, AnotherProcessWithTheNumberIsNotTouched) {
    leave_a_hold();
    kernel.processes[557].started = 4711;
    const std::size_t made = kernel.changes().size();
    auto left = gpu.left_overs();
    ASSERT_TRUE(left);
    ASSERT_EQ(left->tasks.size(), 1U);
    EXPECT_EQ(left->tasks[0].pid, 558U);
    ASSERT_TRUE(gpu.restore({}));
    const auto all = kernel.changes();
    for (std::size_t n = made; n < all.size(); n++)
        EXPECT_NE(all[n].client, first);
    EXPECT_TRUE(files().empty());
    kernel.processes[557].started = 10;
    EXPECT_TRUE(gpu.perform(nvdebug::resume_tasks(std::vector<std::uint32_t>{557})));
}

/// The file names this test's pid with another start time as the keeper.
TEST_F(Journal, AnotherProcessWithTheKeepersNumberKeepsNothing) {
    leave_a_hold();
    std::string text = text_of(files()[0]);
    const std::size_t at = text.find("keeper ") + 7;
    char pid[32];
    std::snprintf(pid, sizeof(pid), "%020u", static_cast<unsigned>(::getpid()));
    text.replace(at, 20, pid);
    write(files()[0], text);
    ASSERT_EQ(gpu.restore({})->tasks.size(), 2U);
    EXPECT_TRUE(is_as_before());
}

TEST_F(Journal, ATaskThatHasEndedLeavesNoFile) {
    leave_a_hold();
    kernel.end_process(557);
    kernel.end_process(558);
    const auto restored = gpu.restore({});
    ASSERT_TRUE(restored);
    EXPECT_TRUE(restored->tasks.empty() && restored->troubles.empty());
    EXPECT_TRUE(files().empty());
}

/// A process has freed a channel, and has made another one with the next name.
TEST_F(Journal, AFreedChannelDoesNotKeepTheOthersPaused) {
    leave_a_hold();
    std::uint32_t freed = 0;
    for (const auto &[name, object] : kernel.others[first])
        if (rm::is_channel_class(object.object_class) && !freed)
            freed = name;
    kernel.others[first].erase(freed);
    ASSERT_TRUE(gpu.restore({}));
    EXPECT_EQ(enabled(), (std::vector<bool>{false, true, true, true, true, true}));
    EXPECT_TRUE(files().empty());
}

// --- files that are garbage, or of other keepers ---

TEST_F(Journal, GarbageIsNamedAndChangesNothing) {
    leave_a_hold();
    const fs::path whole = files()[0];
    const std::string text = text_of(whole);
    std::vector<std::string> garbage = {
        "",
        "\n",
        std::string(100, '\0'),
        "nvdebug changes 2" + text.substr(17),
        text + "x",
        text + "\n",
        text.substr(0, text.size() - 1),
        replaced(text, "\nend\n", "\n"),
        replaced(text, "timeslice 557", "timeslice -557"),
        replaced(text, "timeslice 557", "timeslice 99999999999999999999"),
        replaced(text, "channel 557 10", "channel 557"),
        replaced(text, "channel 557", "chanel 557"),
        replaced(text, " 00000000000000002000\n", " 00000000000000000000\n"),
        replaced(text, "gpu ", "gpu\t"),
        replaced(text, "keeper ", "keeper  "),
        replaced(text, " holding\n", "\n"),
        replaced(text, " holding\n", " helding\n")};
    for (std::size_t length = 0; length < text.size(); length += 7)
        garbage.push_back(text.substr(0, length));
    fs::remove(whole);
    const std::size_t made = changes();
    for (const std::string &wrong : garbage) {
        write(folder / "changes-0", wrong);
        const auto found = gpu.restore({});
        ASSERT_TRUE(found);
        EXPECT_TRUE(found->tasks.empty()) << wrong;
        ASSERT_EQ(found->troubles.size(), 1U) << wrong;
        EXPECT_NE(found->troubles[0].find("/run/nvdebug/changes-0 is no whole list"),
                  std::string::npos);
        EXPECT_TRUE(gpu.hold(std::vector<std::uint32_t>{557}));
    }
    EXPECT_EQ(changes(), made);
    EXPECT_TRUE(fs::exists(folder / "changes-0")) << "a person is to look at it";
    // Garbage does not keep a complete file from being restored.
    write(folder / "changes-1", text);
    EXPECT_EQ(gpu.restore({})->tasks.size(), 2U);
    EXPECT_TRUE(is_as_before());
    EXPECT_FALSE(fs::exists(folder / "changes-1"));
}

TEST_F(Journal, OtherKindsOfFilesAreNotRead) {
    leave_a_hold();
    const fs::path whole = files()[0];
    fs::rename(whole, folder / "elsewhere");
    fs::create_symlink(folder / "elsewhere", folder / "changes-link");
    ASSERT_EQ(::mkfifo((folder / "changes-pipe").c_str(), 0600), 0);
    fs::create_directory(folder / "changes-folder");
    fs::copy_file(folder / "elsewhere", folder / "changes-open");
    fs::permissions(folder / "changes-open", fs::perms(0666));
    const auto found = gpu.restore({});
    ASSERT_TRUE(found);
    EXPECT_TRUE(found->tasks.empty());
    EXPECT_EQ(found->troubles.size(), 4U);
    fs::rename(folder / "elsewhere", folder / "changes-whole");
    EXPECT_EQ(gpu.restore({})->tasks.size(), 2U);
}

/// A keeper in another container sees other process numbers.
TEST_F(Journal, IgnoresKeepersOfOtherPidNamespaces) {
    leave_a_hold();
    const fs::path whole = files()[0];
    const std::string text = text_of(whole);
    const std::size_t end = text.find(" holding\n"), begin = text.rfind(' ', end - 1) + 1;
    write(whole, text.substr(0, begin) + "17" + text.substr(end));
    EXPECT_TRUE(gpu.restore({})->tasks.empty());
    EXPECT_TRUE(fs::exists(whole));
    write(whole, text);
    EXPECT_EQ(gpu.restore({})->tasks.size(), 2U);
}

TEST_F(Journal, IgnoresChangesOfOtherGpus) {
    leave_a_hold();
    const fs::path whole = files()[0];
    const std::string text = text_of(whole);
    const std::size_t begin = text.find("\ngpu ") + 5, end = text.find('\n', begin);
    write(whole, text.substr(0, begin) + "0000:ff:00.0" + text.substr(end));
    EXPECT_TRUE(gpu.restore({})->tasks.empty());
    write(whole, text);
    EXPECT_EQ(gpu.restore({})->tasks.size(), 2U);
}

/// The journal cannot be written, because its disk is full or read-only.
class NotWritten : public Journal {
  protected:
    void expect_refused(const std::string &why) {
        const std::size_t made = changes();
        const auto held = gpu.hold(std::vector<std::uint32_t>{557});
        expect_error(held, nvdebug::code_of_errno(number), why);
        expect_error(held, nvdebug::code_of_errno(number), "/run/nvdebug");
        expect_error(held, nvdebug::code_of_errno(number), "nothing was changed");
        expect_error(gpu.lease(pause({557})), nvdebug::code_of_errno(number), why);
        EXPECT_EQ(changes(), made);
        EXPECT_TRUE(comes_true([&] { return keepers().empty(); }));
        EXPECT_TRUE(gpu.perform(timeslice({557}, 2000))) << "what is not to be undone is made";
    }
    int number = ENOSPC;
};

TEST_F(NotWritten, RefusesChangesOnAFullDisk) {
    fs::create_directory(folder);
    ASSERT_EQ(::mount("none", folder.c_str(), "tmpfs", 0, "size=64k"), 0);
    std::ofstream(folder / "big") << std::string(1 << 20, 'x');
    expect_refused("No space left on device");
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1) << "no part of a file";
    fs::remove(folder / "big");
    auto held = hold({557});
    put(*held, changed);
    std::ofstream(folder / "big") << std::string(1 << 20, 'x');
    held.reset();
    EXPECT_TRUE(is_as_before());
    ASSERT_EQ(::umount2(folder.c_str(), MNT_DETACH), 0);
}

TEST_F(NotWritten, RefusesChangesOnAReadOnlyDisk) {
    fs::create_directory(folder);
    ASSERT_EQ(::mount("none", folder.c_str(), "tmpfs", MS_RDONLY, "mode=700"), 0);
    number = EROFS;
    expect_refused("Read-only file system");
    ASSERT_EQ(::umount2(folder.c_str(), MNT_DETACH), 0);
}

TEST_F(NotWritten, AFolderOfAnotherUserIsRefused) {
    fs::create_directory(folder);
    ASSERT_EQ(::chown(folder.c_str(), 65534, 65534), 0);
    number = EPERM;
    expect_refused("Operation not permitted");
}

TEST_F(NotWritten, AFileInPlaceOfTheFolderIsRefused) {
    std::ofstream(folder.c_str()) << "x";
    number = ENOTDIR;
    expect_refused("Not a directory");
}

} // namespace
} // namespace driver_test
