// SPDX-License-Identifier: MIT OR GPL-2.0
// Opens folders and captures, which have the same files.
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <sstream>
#include <sys/resource.h>
#include <sys/stat.h>

#include "fixture.hpp"
#include "lib/nvdebug/capture.hpp"
#include "lib/nvdebug/tree_impl.hpp"

using namespace nvdebug;
using fixture::Board;
using fixture::Folder;
using fixture::value;
namespace fs = std::filesystem;

namespace {

std::string contents(const fs::path &path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

/// Writes an uncompressed capture and opens it.
Result<Tree> capture_of(const Folder &folder, const CaptureContent &content) {
    folder.write("capture", to_json(content));
    return Tree::capture(folder.path() / "capture");
}

TEST(Names, AreOrderedByTheirNumbers) {
    EXPECT_TRUE(natural_less("gpu2", "gpu10"));
    EXPECT_FALSE(natural_less("gpu10", "gpu2"));
    EXPECT_TRUE(natural_less("gpc9_tpc_mask", "gpc10_tpc_mask"));
    EXPECT_TRUE(natural_less("runlist", "runlist0"));
    EXPECT_TRUE(natural_less("a01", "a1"));
    EXPECT_FALSE(natural_less("a1", "a1"));
    EXPECT_TRUE(natural_less("x99999999999999999999998", "x99999999999999999999999"));
}

class EveryCapture : public testing::TestWithParam<std::string> {};

TEST_P(EveryCapture, HoldsWhatTheFolderHeld) {
    const Board board(GetParam(), "mixed");
    const Folder folder;
    const std::string path = folder.path() / "capture.gz";
    const CaptureReport report = value(write_capture(board.gpu().tree(), {}, path));
    EXPECT_TRUE(report.failed.empty());

    const Tree tree = value(Tree::open(path));
    EXPECT_FALSE(tree.live());
    EXPECT_EQ(tree.path(), path);
    const auto names = value(tree.list("gpu0"));
    EXPECT_EQ(names, value(board.gpu().tree().list("gpu0")));
    EXPECT_EQ(names.size(), report.files);
    for (const std::string &name : names)
        EXPECT_EQ(value(tree.read("gpu0/" + name)), value(board.gpu().tree().read("gpu0/" + name)));
    EXPECT_EQ(value(gpus(tree)).size(), 1U);
    EXPECT_EQ(tree.facts().at("captured_at").size(), sizeof("2026-01-31T12:00:00Z") - 1);
    EXPECT_FALSE(tree.facts().contains("kernel")); // the folder was of no running kernel
}

INSTANTIATE_TEST_SUITE_P(Golden, EveryCapture, testing::ValuesIn(fixture::boards()),
                         [](const auto &about) {
                             std::string name = about.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

TEST(Capture, KeepsTheFactsOfACapture) {
    const Folder folder;
    const Tree first = value(capture_of(folder, {{{"captured_at", "then"}, {"kernel", "6.1"}},
                                                 {{"gpu0/info", "chip: x\n"}},
                                                 {{"gpu0/lce_for_pce0", ENODEV}}}));
    value(write_capture(first, {}, folder.path() / "second"));
    const Tree second = value(Tree::open(folder.path() / "second"));
    EXPECT_EQ(second.facts(), first.facts());
    EXPECT_EQ(second.read("gpu0/lce_for_pce0").error().number, ENODEV);
}

TEST(Capture, HasOnlyTheNamedGpus) {
    const Folder folder;
    for (const char *const gpu : {"gpu0", "gpu2", "gpu10"})
        folder.write(std::string(gpu) + "/info", gpu);
    const std::string path = folder.path() / "capture";
    value(write_capture(folder.tree(), {"gpu2"}, path));
    EXPECT_EQ(value(value(Tree::open(path)).list("")), std::vector<std::string>{"gpu2"});
    EXPECT_EQ(write_capture(folder.tree(), {"gpu7"}, path).error().code, ErrorCode::not_found);
}

TEST(Capture, LeavesControlsOut) {
    const Folder folder;
    for (const char *const file : {"info", "translate", "set_timeslice", "disable_channel"})
        folder.write(std::string("gpu0/") + file, "x\n");
    fs::permissions(folder.path() / "gpu0/disable_channel", fs::perms::owner_write);
    const std::string path = folder.path() / "capture";
    EXPECT_EQ(value(write_capture(folder.tree(), {}, path)).files, 1U);
}

TEST(Capture, IsWholeOrNotThere) {
    const Folder folder;
    folder.write("gpu0/info", "chip: x\n");
    folder.write("out/old", "what was there");
    // A rename cannot replace these names.
    EXPECT_EQ(write_capture(folder.tree(), {}, folder.path() / "out").error().number, EISDIR);
    const std::string socket = folder.path() / "socket";
    ASSERT_EQ(::mknod(socket.c_str(), S_IFSOCK | 0600, 0), 0);
    EXPECT_EQ(write_capture(folder.tree(), {}, socket).error().number, EEXIST);
    EXPECT_EQ(write_capture(folder.tree(), {}, folder.path() / "no/such").error().number, ENOENT);
    // Without anything to capture, the existing file stays.
    const Folder empty;
    EXPECT_FALSE(write_capture(empty.tree(), {}, folder.path() / "out/old"));
    EXPECT_EQ(contents(folder.path() / "out/old"), "what was there");
    value(write_capture(folder.tree(), {}, folder.path() / "out/old"));
    EXPECT_TRUE(Tree::capture(folder.path() / "out/old"));
    struct stat about {};
    ASSERT_EQ(::stat((folder.path() / "out/old").c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777, 0600U);
    const auto left = value(value(Tree::folder(folder.path() / "out")).list(""));
    EXPECT_EQ(left, std::vector<std::string>{"old"}); // no temporary file
}

TEST(Capture, FailsAtTheLimitOfFileSizes) {
    const Folder folder;
    folder.write("gpu0/info", "chip: x\n");
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit little{4, before.rlim_max};
    const auto handler = ::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
    const auto result = write_capture(folder.tree(), {}, folder.path() / "capture");
    ::setrlimit(RLIMIT_FSIZE, &before);
    ::signal(SIGXFSZ, handler);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().number, EFBIG);
    EXPECT_EQ(value(folder.tree().list("")), std::vector<std::string>{"gpu0"});
}

TEST(Capture, RemembersErrorsOfTheHardware) {
    const Folder folder;
    const Tree tree = value(capture_of(
        folder,
        {{},
         {{"gpu0/pce_map", "0x3\n"}},
         {{"gpu0/lce_for_pce0", ENODEV}, {"gpu0/runlist0", EIO}, {"gpu0/contexts", EOPNOTSUPP}}}));
    EXPECT_EQ(tree.read("gpu0/lce_for_pce0").error().code, ErrorCode::gone);
    EXPECT_EQ(tree.read("gpu0/runlist0").error().code, ErrorCode::io);
    EXPECT_EQ(tree.read("gpu0/contexts").error().code, ErrorCode::unsupported);
    EXPECT_EQ(value(tree.list("gpu0")),
              (std::vector<std::string>{"contexts", "lce_for_pce0", "pce_map", "runlist0"}));
    EXPECT_EQ(tree.read("gpu0/engines").error().code, ErrorCode::not_found);
    EXPECT_EQ(tree.list("gpu1").error().code, ErrorCode::not_found);
}

struct Bad {
    std::string text, reason;
    ErrorCode code = ErrorCode::malformed;
};

TEST(Capture, RefusesOtherFiles) {
    const Folder folder;
    const Bad bad[] = {
        {"", "it is empty"},
        {"chip: GA100\n", "no JSON object"},
        {"[]", "no JSON object"},
        {std::string(1000000, '['), "no JSON object"},
        {R"({"format": "tar"})", "'format' is not"},
        {R"({"format": "nvdebug-capture"})", "of a version", ErrorCode::unsupported},
        {R"({"format": "nvdebug-capture", "version": 2})", "of a version", ErrorCode::unsupported},
        {R"({"format": "nvdebug-capture", "version": 1, "errors": {"gpu0/x": "EWHAT"}})",
         "no errno"},
        {"\x1f\x8b garbage that is no gzip", "cannot be unpacked"},
    };
    for (const Bad &one : bad) {
        folder.write("capture", one.text);
        const auto result = Tree::open(folder.path() / "capture");
        ASSERT_FALSE(result) << one.text.substr(0, 40);
        EXPECT_EQ(result.error().code, one.code);
        EXPECT_NE(result.error().sentence.find(one.reason), std::string::npos)
            << result.error().sentence;
    }
}

TEST(Capture, CutOffAnywhere) {
    const Board board("titan-v", "fig7");
    const Folder folder;
    value(write_capture(board.gpu().tree(), {}, folder.path() / "whole"));
    const std::string whole = contents(folder.path() / "whole");
    for (std::size_t size = 0; size < whole.size(); size += 1 + whole.size() / 200) {
        folder.write("part", whole.substr(0, size));
        EXPECT_FALSE(Tree::capture(folder.path() / "part")) << size;
    }
}

TEST(Capture, AdditionsAreSkipped) {
    const Folder folder;
    folder.write("capture",
                 R"({"format": "nvdebug-capture", "version": 1, "new": [[[1]]],
                     "files": {"gpu0/info": "x\n", "gpu0/odd": 5, "gpu0/deep": [[{}]]}})");
    const Tree tree = value(Tree::capture(folder.path() / "capture"));
    EXPECT_EQ(value(tree.list("gpu0")), std::vector<std::string>{"info"});
    EXPECT_TRUE(tree.facts().empty());
}

TEST(FolderTree, KeepsToItself) {
    const Folder outer;
    outer.write("secret", "x\n");
    outer.write("tree/gpu0/info", "x\n");
    const Tree tree = value(Tree::folder(outer.path() / "tree"));
    for (const char *const name : {"../secret", "gpu0/../../secret", "/etc/passwd", "gpu0/.."})
        EXPECT_EQ(tree.read(name).error().code, ErrorCode::not_found) << name;
    EXPECT_EQ(tree.list("..").error().code, ErrorCode::not_found);
}

TEST(FolderTree, ThingsThatAreNoFiles) {
    const Folder folder;
    folder.write("gpu0/info", "x\n");
    ASSERT_EQ(::mkfifo((folder.path() / "gpu0/pipe").c_str(), 0600), 0);
    EXPECT_FALSE(folder.tree().read("gpu0/pipe")); // a pipe does not make it wait
    EXPECT_FALSE(folder.tree().read("gpu0"));
}

TEST(FolderTree, IsLiveOnlyUnderProc) {
    EXPECT_TRUE(value(Tree::folder("/proc")).live());
    EXPECT_FALSE(Folder().tree().live());
    EXPECT_EQ(Tree::folder("/no/such").error().code, ErrorCode::not_found);
    EXPECT_EQ(Tree::open("/no/such").error().number, ENOENT);
    EXPECT_FALSE(Tree::folder("/proc/version"));
}

TEST(Capture, IsNoDevice) {
    const Folder folder;
    EXPECT_EQ(Tree::open("/dev/zero").error().number, EINVAL);
    EXPECT_EQ(Tree::capture(folder.path()).error().number, EISDIR);
}

TEST(Gpus, AreFoundByNamesOfTheModule) {
    const Folder folder;
    for (const char *const name :
         {"gpu10/x", "gpu2/x", "gpu01/x", "gpu/x", "gpux/x", "gpu0x1/x", "gpu4294967296/x"})
        folder.write(name, "");
    const auto found = value(gpus(folder.tree()));
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].index(), 2U);
    EXPECT_EQ(found[1].index(), 10U);
    EXPECT_TRUE(value(gpus(value(Tree::folder("/proc/self")))).empty());
    // Only NVIDIA's driver withholds GPUs (tests/driver/usable_gpus_test.cpp).
    const UsableGpus usable = value(usable_gpus(folder.tree()));
    EXPECT_EQ(usable.gpus.size(), 2U);
    EXPECT_TRUE(usable.left_out.empty());
}

} // namespace
