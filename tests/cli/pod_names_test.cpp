// SPDX-License-Identifier: MIT OR GPL-2.0
// Names of pods by the names of kubelet's files, in folders that the tests make.
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/pod_name_thread.hpp"
#include "lib/base/pod_names.hpp"
#include "tests/support/waiting.hpp"

namespace {

namespace fs = std::filesystem;
using nvdebug::Identity;
using nvdebug::base::PodFile;
using nvdebug::base::PodName;
using nvdebug::base::PodNames;
using nvdebug::base::PodNameThread;
using nvdebug::base::read_pod_file;
using nvdebug::base::read_pod_folders;

const std::string pod_uid = "0f5a1c2e-1111-4222-8333-abcdefabcdef";
const std::string static_uid = "8f6a44fc62e8cb075753c843896568ca";
const std::string first_id(64, 'a'), second_id(64, 'b');

std::string link_name(const std::string &pod, const std::string &name_space,
                      const std::string &container, const std::string &id) {
    return pod + "_" + name_space + "_" + container + "-" + id + ".log";
}

/// A folder that is removed with the test. Its time is set into the past, so that a change of it is
/// seen by its time.
class Folder {
  public:
    Folder() {
        std::string made = (fs::temp_directory_path() / "pods-XXXXXX").string();
        path_ = ::mkdtemp(made.data());
    }
    ~Folder() { fs::remove_all(path_); }
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;
    void add_link(const std::string &name, const std::string &to = "/nowhere") const {
        fs::create_symlink(to, fs::path(path_) / name);
    }
    void add_folder(const std::string &name) const { fs::create_directory(fs::path(path_) / name); }
    void remove(const std::string &name) const { fs::remove(fs::path(path_) / name); }
    void set_time(time_t seconds) const {
        const timespec times[2] = {{seconds, 0}, {seconds, 0}};
        ASSERT_EQ(::utimensat(AT_FDCWD, path_.c_str(), times, 0), 0);
    }
    const std::string &path() const { return path_; }

  private:
    std::string path_;
};

TEST(PodFileName, OfALinkHasPodNamespaceContainerAndId) {
    const auto file = read_pod_file(link_name("vllm-0", "team-a", "server-gpu", first_id));
    ASSERT_TRUE(file);
    EXPECT_EQ(*file, (PodFile{{"team-a", "vllm-0", "server-gpu"}, first_id}));
    EXPECT_TRUE(read_pod_file(link_name("a.b.c", "x", "y", first_id))) << "a pod's name has dots";
    EXPECT_TRUE(read_pod_file(link_name(std::string(64, 'p'), "x", "y", first_id)));
}

TEST(PodFileName, OfAFolderHasNamespacePodAndUid) {
    EXPECT_EQ(read_pod_file("team-a_vllm-0_" + pod_uid), (PodFile{{"team-a", "vllm-0"}, pod_uid}));
    EXPECT_EQ(read_pod_file("kube-system_etcd-node1_" + static_uid),
              (PodFile{{"kube-system", "etcd-node1"}, static_uid}))
        << "a static pod's uid is the hash of its file";
}

TEST(PodFileName, WithAnIdThatKubeletCutIsRead) {
    const std::string pod(120, 'p'), name_space(50, 'n'), container(40, 'c');
    const std::string whole = link_name(pod, name_space, container, first_id);
    const std::string cut = whole.substr(0, 251) + ".log";
    const auto file = read_pod_file(cut);
    ASSERT_TRUE(file);
    EXPECT_EQ(file->id, std::string(251 - 120 - 50 - 40 - 3, 'a'));
    EXPECT_TRUE(file->is_cut);
    EXPECT_FALSE(read_pod_file(link_name("p", "n", "c", std::string(38, 'a'))))
        << "a short name is not cut";
    // Nothing, or too little, is left of the id.
    EXPECT_FALSE(read_pod_file(
        link_name(std::string(140, 'p'), std::string(60, 'n'), std::string(50, 'c'), first_id)
            .substr(0, 251) +
        ".log"));
}

TEST(PodFileName, ThatBreaksTheRulesForNamesIsNone) {
    const std::vector<std::string> names = {"",
                                            ".",
                                            "..",
                                            "_",
                                            "__",
                                            "___",
                                            ".log",
                                            "__-.log",
                                            "a_b_" + pod_uid + "_",
                                            "_b_" + pod_uid,
                                            "a__" + pod_uid,
                                            "A_b_" + pod_uid,
                                            "a_B_" + pod_uid,
                                            "a.b_c_" + pod_uid,
                                            "-a_b_" + pod_uid,
                                            "a-_b_" + pod_uid,
                                            "a_-b_" + pod_uid,
                                            "a_b-_" + pod_uid,
                                            "a_b..c_" + pod_uid,
                                            "a_.b_" + pod_uid,
                                            "a_b._" + pod_uid,
                                            "a_b.-c_" + pod_uid,
                                            "a_b\n_" + pod_uid,
                                            "a_b\"_" + pod_uid,
                                            "a_b\xc3\xa4_" + pod_uid,
                                            "a_b_" + pod_uid.substr(1),
                                            "a_b_" + pod_uid + "0",
                                            "a_b_" + static_uid + "0",
                                            "a_b_" + static_uid.substr(1),
                                            "a_b_0F5A1C2E-1111-4222-8333-ABCDEFABCDEF",
                                            std::string(64, 'a') + "_b_" + pod_uid,
                                            "a_" + std::string(254, 'b') + "_" + pod_uid,
                                            link_name("p", "n", "c", first_id + "a"),
                                            link_name("p", "n", "c", first_id.substr(1)),
                                            link_name("p", "n", "c", std::string(64, 'g')),
                                            link_name("P", "n", "c", first_id),
                                            link_name("p", "n.n", "c", first_id),
                                            link_name("p", "n", "c.c", first_id),
                                            link_name("p", "n", "", first_id),
                                            link_name("", "n", "c", first_id),
                                            link_name("p", "n", std::string(64, 'c'), first_id),
                                            "p_n_c_" + first_id + ".log",
                                            "p_n_" + first_id + ".log"};
    for (const std::string &name : names)
        EXPECT_FALSE(read_pod_file(name)) << name;
}

TEST(PodFolders, AreAbsolutePathsWithColons) {
    EXPECT_EQ(read_pod_folders("/a"), std::vector<std::string>{"/a"});
    EXPECT_EQ(read_pod_folders("/a:/b c"), (std::vector<std::string>{"/a", "/b c"}));
    for (const char *const list : {"", "a", "/a:", ":/a", "/a::/b", "/a:b"})
        EXPECT_FALSE(read_pod_folders(list)) << list;
    EXPECT_TRUE(read_pod_folders(nvdebug::base::usual_pod_folders));
}

TEST(PodNamesInFolders, AreFoundByContainerAndElseByPod) {
    const Folder links, pods;
    links.add_link(link_name("vllm-0", "team-a", "server", first_id));
    pods.add_folder("team-b_train_" + pod_uid);
    PodNames names({links.path(), pods.path(), "/nowhere"});
    names.look({first_id, second_id, pod_uid});
    EXPECT_EQ(names.find({.container = first_id}), (PodName{"team-a", "vllm-0", "server"}));
    EXPECT_EQ(names.find({.container = second_id, .pod = pod_uid}), (PodName{"team-b", "train"}));
    EXPECT_FALSE(names.find({.container = second_id}));
    EXPECT_FALSE(names.find({}));
}

TEST(PodNamesInFolders, AreFoundByAnIdThatKubeletCut) {
    const Folder links;
    const std::string pod(120, 'p');
    links.add_link(
        link_name(pod, std::string(50, 'n'), std::string(40, 'c'), first_id).substr(0, 251) +
        ".log");
    PodNames names({links.path()});
    names.look({first_id, second_id});
    ASSERT_TRUE(names.find({.container = first_id}));
    EXPECT_EQ(names.find({.container = first_id})->pod, pod);
    EXPECT_FALSE(names.find({.container = second_id}));
}

TEST(PodNamesInFolders, FollowNoLinkAndOpenNoFile) {
    const Folder links;
    // A pipe without a writer would stop a reader, and a link to itself cannot be followed.
    const std::string pipe = links.path() + "/" + link_name("pipe", "n", "c", first_id);
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const std::string self = link_name("self", "n", "c", second_id);
    links.add_link(self, links.path() + "/" + self);
    PodNames names({links.path()});
    names.look({first_id, second_id});
    EXPECT_EQ(names.find({.container = first_id})->pod, "pipe");
    EXPECT_EQ(names.find({.container = second_id})->pod, "self");
    PodNames of_pipe({pipe});
    of_pipe.look({first_id});
    EXPECT_EQ(of_pipe.reads(), 0U) << "a pipe is no folder";
}

TEST(PodNamesInFolders, AreReadAgainWhenTheFolderChanges) {
    const Folder links;
    links.add_link(link_name("old", "n", "c", first_id));
    links.set_time(1000);
    PodNames names({links.path()});
    names.look({first_id, second_id});
    const auto reads = names.reads();
    for (int n = 0; n < 5; n++)
        names.look({first_id, second_id});
    EXPECT_EQ(names.reads(), reads) << "nothing has changed";
    links.add_link(link_name("new", "n", "c", second_id));
    names.look({first_id, second_id});
    EXPECT_EQ(names.find({.container = second_id})->pod, "new");
}

/// The times of files come from a clock with coarse steps, so a folder that has just changed may
/// change again without another time. The test's folder has a time that is not over yet.
TEST(PodNamesInFolders, AreReadAgainWhenAChangeIsFresh) {
    const Folder links;
    const time_t later = ::time(nullptr) + 1000;
    links.set_time(later);
    PodNames names({links.path()});
    names.look({first_id});
    links.add_link(link_name("new", "n", "c", first_id));
    links.set_time(later);
    names.look({first_id});
    ASSERT_TRUE(names.find({.container = first_id}));
}

TEST(PodNamesInFolders, AreReadForANewId) {
    const Folder links;
    links.add_link(link_name("one", "n", "c", first_id));
    links.add_link(link_name("two", "n", "c", second_id));
    links.set_time(1000);
    PodNames names({links.path()});
    names.look({first_id});
    names.look({first_id, second_id});
    EXPECT_EQ(names.find({.container = second_id})->pod, "two");
}

TEST(PodNamesInFolders, StayWhenTheFileIsGoneUntilNobodyAsks) {
    const Folder links;
    const std::string link = link_name("one", "n", "c", first_id);
    links.add_link(link);
    PodNames names({links.path()});
    names.look({first_id});
    links.remove(link);
    names.look({first_id});
    EXPECT_TRUE(names.find({.container = first_id})) << "its labels would change";
    names.look({});
    names.look({first_id});
    EXPECT_FALSE(names.find({.container = first_id}));
}

TEST(PodNamesInFolders, AreNoneForAnIdWithTwoNames) {
    const Folder pods;
    pods.add_folder("team-a_serve_" + pod_uid);
    pods.set_time(1000);
    PodNames names({pods.path()});
    names.look({pod_uid});
    EXPECT_TRUE(names.find({.pod = pod_uid}));
    pods.add_folder("team-b_mine_" + pod_uid);
    names.look({pod_uid});
    EXPECT_FALSE(names.find({.pod = pod_uid})) << "which of them is right is not known";
    pods.remove("team-b_mine_" + pod_uid);
    names.look({pod_uid});
    EXPECT_EQ(names.find({.pod = pod_uid})->pod, "serve");
}

TEST(PodNamesInFolders, AreFoundAmongAHundredThousand) {
    const Folder pods;
    const int opened = ::open(pods.path().c_str(), O_RDONLY | O_DIRECTORY);
    for (int n = 0; n < 100'000; n++) {
        char id[65];
        std::snprintf(id, sizeof(id), "%064x", n);
        ASSERT_EQ(
            ::symlinkat("x", opened, link_name("p" + std::to_string(n), "n", "c", id).c_str()), 0);
    }
    ::close(opened);
    PodNames names({pods.path()});
    char last[65];
    std::snprintf(last, sizeof(last), "%064x", 99'999);
    names.look({last, first_id});
    EXPECT_EQ(names.find({.container = last})->pod, "p99999");
    EXPECT_FALSE(names.find({.container = first_id}));
}

TEST(PodNameThreads, FindNamesWithoutACallerThatWaits) {
    const Folder links;
    links.add_link(link_name("one", "n", "c", first_id));
    PodNameThread names({links.path()});
    EXPECT_FALSE(names.find({}));
    static_cast<void>(names.find({.container = first_id}));
    EXPECT_TRUE(names.wait(std::chrono::seconds(60)));
    EXPECT_EQ(names.find({.container = first_id})->pod, "one");
}

TEST(PodNameThreads, FindANameThatComesLater) {
    const Folder links;
    PodNameThread names({links.path()});
    static_cast<void>(names.find({.container = first_id}));
    EXPECT_TRUE(names.wait(std::chrono::seconds(60)));
    links.add_link(link_name("late", "n", "c", first_id));
    const auto found = [&] { return names.find({.container = first_id}).has_value(); };
    EXPECT_TRUE(driver_test::comes_true(found));
}

} // namespace
