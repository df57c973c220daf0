// SPDX-License-Identifier: MIT OR GPL-2.0
// Errors are sentences that name the file, the reason and what to do.
#include <gtest/gtest.h>

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include "fixture.hpp"
#include "lib/nvdebug/error.hpp"
#include "lib/nvdebug/file.hpp"

using namespace nvdebug;
using fixture::Board;
using fixture::Folder;
using fixture::value;

namespace {

bool has(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

TEST(Codes, StandForErrnos) {
    EXPECT_EQ(code_of_errno(ENOENT), ErrorCode::not_found);
    EXPECT_EQ(code_of_errno(EACCES), ErrorCode::denied);
    EXPECT_EQ(code_of_errno(ENODEV), ErrorCode::gone);
    EXPECT_EQ(code_of_errno(EOPNOTSUPP), ErrorCode::unsupported);
    EXPECT_EQ(code_of_errno(EBUSY), ErrorCode::busy);
    EXPECT_EQ(code_of_errno(E2BIG), ErrorCode::invalid);
    EXPECT_EQ(code_of_errno(ETIMEDOUT), ErrorCode::timeout);
    EXPECT_EQ(code_of_errno(EFAULT), ErrorCode::io);
    EXPECT_EQ(code_of_errno(EXDEV), ErrorCode::io);
    EXPECT_STREQ(name_of(ErrorCode::not_found), "not_found");
    EXPECT_STREQ(name_of(ErrorCode::malformed), "malformed");
    for (const int number : {ENODEV, EIO, EOPNOTSUPP, EHWPOISON})
        EXPECT_EQ(errno_of_name(errno_name(number)), number);
    EXPECT_EQ(errno_of_name("EWHAT"), 0);
}

TEST(Errors, FeaturesThatAChipDoesNotHave) {
    const Board board("quadro-k5000");
    const Error error = board.gpu().copy_topology().error();
    EXPECT_EQ(error.code, ErrorCode::unsupported);
    EXPECT_EQ(error.number, ENOENT);
    EXPECT_EQ(error.sentence,
              "gpu0 (GK104) has no copy_topology: copy engines are physical: nothing to map");
    EXPECT_EQ(board.gpu().work_distributor().error().code, ErrorCode::unsupported);
    EXPECT_EQ(board.gpu().local_memory_bytes().error().code, ErrorCode::unsupported);
}

TEST(Errors, QuoteFilesPrintably) {
    const Board board("quadro-k5000");
    std::string info = value(board.gpu().tree().read("gpu0/info"));
    for (const std::string part : {"GK104", "are physical"})
        info.replace(info.find(part), 1, "\x1b");
    board.folder().write("gpu0/info", info);
    EXPECT_EQ(board.gpu().copy_topology().error().sentence,
              "gpu0 (?K104) has no copy_topology: copy engines ?re physical: nothing to map");
}

TEST(Errors, RunlistsThatAChipDoesNotHave) {
    const Error error = Board("gtx1060-3gb").gpu().runlist(4).error();
    EXPECT_EQ(error.code, ErrorCode::not_found);
    EXPECT_EQ(error.sentence, "gpu0 (GP106) has no runlist 4; it has 0-3, 5, 6");
}

TEST(Errors, FilesThatAreMissing) {
    const Folder folder;
    folder.write("gpu0/x", "");
    const Error error = Gpu(folder.tree(), 0).info().error();
    EXPECT_EQ(error.code, ErrorCode::not_found);
    EXPECT_EQ(error.path, folder.path() / "gpu0/info");
    EXPECT_TRUE(has(error.sentence, "there is no such file in " + folder.path().string() +
                                        ": it did not exist, or was left out"));
}

TEST(Errors, SayThatTheModuleIsMissing) {
    const Error error = Gpu(value(Tree::folder()), 4096).info().error();
    const std::string sentence = "cannot read /proc/gpu4096/info: there is no /proc/gpu4096: the "
                                 "module nvdebug is not loaded, or found no such GPU";
    EXPECT_EQ(error.sentence, sentence);
    const Tree advised = value(Tree::folder("/proc", {.diagnose = "why", .capture = ""}));
    EXPECT_EQ(Gpu(advised, 4096).info().error().sentence, sentence + "; 'why' says which");
}

TEST(Errors, AdviseTheProgramsCommands) {
    const Advice advice{.diagnose = "why", .capture = "keep"};
    const Folder folder;
    const Tree tree = value(Tree::folder(folder.path().string(), advice));
    const bool is_root = ::geteuid() == 0;
    const std::string rule = is_root ? "the kernel does not permit it to root: lockdown, or a "
                                       "container or unit"
                                     : "the kernel does not permit it; run this as root";
    EXPECT_TRUE(
        cannot_read(tree.impl(), "gpu0/info", EPERM)
            .sentence.ends_with(rule + (is_root ? "; 'why' says whether lockdown is on"
                                                : ", and see with 'why' whether lockdown is "
                                                  "on")));
    EXPECT_TRUE(cannot_read(folder.tree().impl(), "gpu0/info", EPERM).sentence.ends_with(rule));
    EXPECT_TRUE(cannot_control(tree.impl(), "gpu0/scheduling", "0 on", EPERM)
                    .sentence.ends_with("loaded with read_only=1; 'why' says which it is"));
    const auto advises = [](const Error &error) {
        return error.sentence.find("run this as root") != std::string::npos;
    };
    for (const int number : {EACCES, EPERM})
        for (const char *file : {"gpu0/info", "gpu0/translate", "gpu0/scheduling"}) {
            EXPECT_NE(advises(cannot_read(tree.impl(), file, number)), is_root) << file;
            EXPECT_NE(advises(cannot_control(tree.impl(), file, "1", number)), is_root) << file;
        }
    EXPECT_TRUE(write_capture(tree, {}, (folder.path() / "none").string())
                    .error()
                    .sentence.ends_with("may be read; 'why' says which"));
    folder.write("capture", "[]");
    const std::string path = (folder.path() / "capture").string();
    EXPECT_TRUE(Tree::open(path, advice).error().sentence.ends_with("; make one with 'keep'"));
    EXPECT_TRUE(Tree::open(path).error().sentence.ends_with("or was cut off"));
}

TEST(Errors, MalformedFilesNameFileAndLine) {
    const Board board("a100");
    board.folder().write("gpu0/pce_map", "many\n");
    const Error error = board.gpu().copy_topology().error();
    EXPECT_EQ(error.code, ErrorCode::malformed);
    EXPECT_EQ(error.path, board.gpu().path("pce_map"));
    EXPECT_TRUE(has(error.sentence, error.path + " is not what docs/proc.md says, line 1: "))
        << error.sentence;
    board.folder().write("gpu0/pce_map", "0x100000000\n");
    EXPECT_EQ(board.gpu().copy_topology().error().code, ErrorCode::malformed);
    board.folder().write("gpu0/num_gpcs", "0x21\n");
    EXPECT_EQ(board.gpu().gpc_topology().error().code, ErrorCode::malformed);
}

TEST(Errors, ReadsHaveAdvice) {
    const Folder folder;
    const Tree tree = folder.tree();
    const auto read = [&](const char *name, int number) {
        return cannot_read(tree.impl(), std::string("gpu0/") + name, number).sentence;
    };
    EXPECT_EQ(has(read("runlist0", EACCES), "state_gid="), ::geteuid() != 0)
        << read("runlist0", EACCES);
    EXPECT_FALSE(has(read("scheduling", EACCES), "state_gid="));
    EXPECT_TRUE(has(read("lce_for_pce3", ENODEV), "serves no LCE"));
    EXPECT_TRUE(has(read("info", ENODEV), "asleep"));
    EXPECT_TRUE(has(read("sm_map", EIO), "powered down"));
    EXPECT_TRUE(has(read("contexts", EOPNOTSUPP), "PRAMIN"));
    EXPECT_TRUE(has(read("runlist0", EBUSY), "try again"));
    EXPECT_TRUE(has(read("runlist0", EXDEV), "cross-device link"));
}

TEST(Errors, ControlsHaveAdvice) {
    const Tree tree = value(Tree::folder());
    const auto control = [&](const char *name, const char *text, int number) {
        return cannot_control(tree.impl(), std::string("self/") + name, text, number).sentence;
    };
    const std::string denied = control("disable_channel", "0:5", EPERM);
    EXPECT_TRUE(has(denied, "'0:5' to /proc/self/disable_channel failed: ")) << denied;
    EXPECT_TRUE(has(denied, "CAP_SYS_ADMIN") && has(denied, "lockdown") && has(denied, "read_only"))
        << denied;
    EXPECT_FALSE(has(control("translate", "0 0", EPERM), "read_only"));
    EXPECT_TRUE(has(control("enable_channel", "5", EACCES), "root"));
    EXPECT_TRUE(has(control("set_timeslice", "5 0", ERANGE), "1.024"));
    EXPECT_TRUE(has(control("enable_channel", "5", EINVAL), "RUNLIST:ID"));
    EXPECT_FALSE(has(control("enable_channel", "5", EINVAL), "lease"));
    EXPECT_TRUE(has(control("enable_channel", "lease 5", EINVAL), "knows no leases"));
    EXPECT_TRUE(has(control("preempt_tsg", "5", ETIMEDOUT), "within a second"));
    EXPECT_TRUE(has(control("preempt_tsg", "5", ENOTRECOVERABLE), "then the module, or reboot"));
    EXPECT_TRUE(has(control("scheduling", "5 on", EIO), "the rest was put back"));
    for (const char *const once : {"preempt_tsg", "preempt_runlist", "resubmit_runlist"})
        EXPECT_TRUE(has(control(once, "5 6", EIO), "before it stay")) << once;
    EXPECT_TRUE(has(control("preemption_mode", "5 wfi", EIO), "magic value"));
}

TEST(Controls, NeedALiveTree) {
    const Board board("a100");
    const Target target{0, 5};
    const Request request = disable_channels(std::span(&target, 1));
    EXPECT_EQ(board.gpu().perform(request).error().code, ErrorCode::unsupported);
    EXPECT_EQ(board.gpu().lease(request).error().code, ErrorCode::unsupported);
    EXPECT_EQ(board.gpu().translate("0x1000 0").error().code, ErrorCode::unsupported);
    const std::uint32_t runlist = 0;
    const Request once = preempt_runlists(std::span(&runlist, 1));
    const Error error = board.gpu().lease(once).error();
    EXPECT_EQ(error.code, ErrorCode::invalid);
    EXPECT_TRUE(has(error.sentence, "cannot be undone")) << error.sentence;
}

TEST(Controls, OneWriteOfTheWholeText) {
    const Folder folder;
    folder.write("control", "");
    const std::string path = folder.path() / "control";
    {
        const auto performed = write_control(path, "lease 0:5", false);
        ASSERT_TRUE(performed);
        EXPECT_EQ(::fcntl(std::static_pointer_cast<const Descriptor>(performed->lease)->number(),
                          F_GETFL) &
                      O_ACCMODE,
                  O_WRONLY);
        EXPECT_EQ(::fcntl(std::static_pointer_cast<const Descriptor>(performed->lease)->number(),
                          F_GETFD),
                  FD_CLOEXEC);
    }
    EXPECT_EQ(value(folder.tree().read("control")), "lease 0:5");
    // A plain file answers with the bytes that follow the written ones.
    folder.write("control", "questionanswer");
    EXPECT_EQ(write_control(path, "question", true)->answer, "answer");
    EXPECT_EQ(write_control(folder.path() / "none", "x", false).error(), ENOENT);
    EXPECT_EQ(write_control("/dev/full", "x", false).error(), ENOSPC);
}

bool is_open(int descriptor) {
    return ::fcntl(descriptor, F_GETFD) >= 0;
}

TEST(Leases, HoldTheFileOpenUntilTheyEnd) {
    int files[3];
    for (int &file : files)
        file = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    {
        Lease first(std::make_shared<const Descriptor>(files[0]), "answer");
        Lease second(std::move(first));
        EXPECT_EQ(second.answer(), "answer");
        EXPECT_TRUE(is_open(files[0]));
        second = Lease(std::make_shared<const Descriptor>(files[1]), "");
        EXPECT_FALSE(is_open(files[0]));
        EXPECT_TRUE(is_open(files[1]));
        second.end();
        EXPECT_FALSE(is_open(files[1]));
        second.end();
        const Lease third(std::make_shared<const Descriptor>(files[2]), "");
        EXPECT_TRUE(is_open(files[2]));
    }
    EXPECT_FALSE(is_open(files[2]));
}

TEST(Requests, HaveTheTextThatTheKernelReads) {
    const std::vector<Target> targets = {{0, 5}, {std::nullopt, 6}};
    const std::vector<std::uint32_t> runlists = {0, 3};
    EXPECT_EQ(disable_channels(targets).file, "disable_channel");
    EXPECT_EQ(disable_channels(targets).text, "0:5 6");
    EXPECT_EQ(disable_channels({{0, 2}}).text, "0:2");
    EXPECT_EQ(disable_channels({{0, 2}, {{}, 3}}).text, "0:2 3");
    EXPECT_EQ(enable_channels({{0, 2}}).text, "0:2");
    EXPECT_EQ(preempt_tsgs({{1, 2}}).text, "1:2");
    EXPECT_EQ(preempt_runlists({1, 2}).text, "1 2");
    EXPECT_EQ(resubmit_runlists({0}).text, "0");
    EXPECT_EQ(schedule_runlists({0, 3}, false).text, "0 off 3 off");
    EXPECT_TRUE(disable_channels(targets).leasable);
    EXPECT_EQ(enable_channels(targets).file, "enable_channel");
    EXPECT_EQ(preempt_tsgs(targets).text, "0:5 6");
    EXPECT_FALSE(preempt_tsgs(targets).leasable);
    EXPECT_EQ(switch_to_tsg(targets[0]).text, "0:5");
    EXPECT_EQ(set_timeslice(targets[0], 1500000).text, "0:5 1500.000");
    EXPECT_EQ(set_timeslice(targets[1], 1024).text, "6 1.024");
    EXPECT_EQ(set_timeslice(targets[1], 7).text, "6 0.007");
    EXPECT_EQ(preempt_runlists(runlists).text, "0 3");
    EXPECT_EQ(resubmit_runlists(runlists).file, "resubmit_runlist");
    EXPECT_EQ(schedule_runlists(runlists, false).text, "0 off 3 off");
    EXPECT_EQ(schedule_runlists(runlists, true).file, "scheduling");
    EXPECT_EQ(set_preemption_mode(targets[0], PreemptionMode::cta).text, "0:5 cta");
    EXPECT_EQ(set_preemption_mode(targets[0], PreemptionMode::cilp).text, "0:5 cilp");
}

TEST(Targets, AreParsedAsPeopleWriteThem) {
    EXPECT_EQ(value(parse_target("12")), (Target{std::nullopt, 12}));
    EXPECT_EQ(value(parse_target("0x3:0xc")), (Target{3, 12}));
    EXPECT_EQ(value(parse_target("0:0")), (Target{0, 0}));
    EXPECT_EQ(to_string(Target{3, 12}), "3:12");
    for (const char *const bad :
         {"", ":", "1:", ":1", "1:2:3", "x", "-1", "+1", " 1", "1 ", "09", "0x", "4294967296"}) {
        const auto result = parse_target(bad);
        ASSERT_FALSE(result) << bad;
        EXPECT_EQ(result.error().code, ErrorCode::invalid);
        EXPECT_TRUE(has(result.error().sentence, "RUNLIST:ID"));
    }
}

} // namespace
