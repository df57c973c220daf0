// SPDX-License-Identifier: MIT OR GPL-2.0
// Words that name processes, as people copy them, and those that can fit no process.
#include "lib/base/task_name.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace {

using namespace nvdebug::base;

const std::string container_id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

void expect_names(Named<std::string> (*read)(std::string_view),
                  const std::vector<std::pair<std::string, std::string>> &cases) {
    for (const auto &[typed, name] : cases) {
        const auto found = read(typed);
        ASSERT_TRUE(found) << typed << ": " << found.error();
        EXPECT_EQ(*found, name) << typed;
    }
}

void expect_refused(Named<std::string> (*read)(std::string_view), const char *sentence,
                    const std::vector<std::string> &typed) {
    for (const std::string &word : typed) {
        const auto found = read(word);
        ASSERT_FALSE(found) << word << ": " << *found;
        EXPECT_NE(found.error().find(sentence), std::string::npos) << found.error();
        EXPECT_LT(found.error().size(), 500U);
    }
}

TEST(ContainerNames, AreTakenAsKubectlAndDockerPrintThem) {
    std::string upper = container_id;
    for (char &c : upper)
        c = static_cast<char>(std::toupper(c));
    expect_names(read_container, {{"3f2a", "3f2a"},
                                  {container_id, container_id},
                                  {upper, container_id},
                                  {"containerd://" + container_id, container_id},
                                  {"cri-o://" + container_id, container_id},
                                  {"docker://3F2A", "3f2a"},
                                  {"podman://3f2a", "3f2a"}});
}

TEST(ContainerNames, RefusalNamesTheCommandThatShowsTheId) {
    expect_refused(read_container, "docker inspect -f '{{.Id}}' vllm-openai",
                   {"vllm-openai", "docker://vllm-openai"});
    expect_refused(read_container, "docker inspect -f '{{.Id}}' NAME",
                   {"", "containerd://", "$(reboot)", "a b", "-f", "\x1b[m",
                    "sha256:" + container_id, std::string(1000, 'x')});
    expect_refused(read_container, "has 65 hexadecimal digits", {container_id + "0"});
}

TEST(PodNames, AreUidsInEachForm) {
    const std::string uid = "0f5a1c2e-1111-2222-3333-444455556666";
    expect_names(read_pod,
                 {{uid, uid},
                  {"0F5A1C2E-1111", "0f5a1c2e-1111"},
                  {"0f5a1c2e_1111_2222_3333_444455556666", uid},
                  {"pod" + uid, uid},
                  {"0f5a", "0f5a"},
                  {"8f6a44fc62e8cb075753c843896568ca", "8f6a44fc62e8cb075753c843896568ca"},
                  {"8f6a44fc62e8", "8f6a44fc62e8"}});
    expect_refused(read_pod, "kubectl get pod vllm-0 -o jsonpath='{.metadata.uid}'", {"vllm-0"});
    expect_refused(read_pod, "is no uid of a pod",
                   {"", "pod", uid + "0", "0f5a1c2e-11111", "8f6a44fc62e8cb075753c843896568ca0",
                    "0f5a-1111", "default/vllm"});
}

TEST(JobNames, AreNumbersOfJobsAndSteps) {
    expect_names(read_job, {{"17", "17"},
                            {"17.0", "17.0"},
                            {"17.batch", "17.batch"},
                            {"17.0+1", "17.0+1"},
                            {"17.extern", "17.extern"}});
    expect_refused(
        read_job, "squeue -o %A",
        {"", "17_3", "17+1", "17.", ".0", "17.x", "x", "017", "17.0.5", "job_17", "-1", "17 "});
}

TEST(CommandNames, AreComparedByTheBytesThatLinuxKeeps) {
    expect_names(read_command, {{"train", "train"},
                                {"text-generation-launcher", "text-generation"},
                                {"VLLM::EngineCore", "VLLM::EngineCor"},
                                {"fifteen-bytes-x", "fifteen-bytes-x"}});
    expect_refused(read_command, "is no name of a command", {"", "a\nb", std::string("a\0b", 3)});
    EXPECT_EQ(note_on_command("fifteen-bytes-x"), "");
    EXPECT_EQ(note_on_command("VLLM::EngineCore"),
              "'VLLM::EngineCore': Linux keeps 15 bytes of a command's name, so that all processes "
              "named 'VLLM::EngineCor' fit");
}

TEST(CgroupNames, ArePathsFromTheRootOn) {
    expect_names(read_cgroup, {{"/kubepods.slice", "/kubepods.slice"},
                               {"/kubepods.slice/", "/kubepods.slice"},
                               {"/a//b///", "/a/b"},
                               {"/", "/"},
                               {"/sys/fs/cgroup", "/"},
                               {"/sys/fs/cgroup/", "/"},
                               {"/sys/fs/cgroup/kubepods.slice/", "/kubepods.slice"},
                               {"/sys/fs/cgroups/x", "/sys/fs/cgroups/x"},
                               {"0::/user.slice/x", "/user.slice/x"},
                               {"4:cpu,cpuacct:/docker/x", "/docker/x"},
                               {"1:name=systemd:/x", "/x"},
                               {"/a:b:/c", "/a:b:/c"},
                               {"/../../x", "/../../x"},
                               {"/x=y", "/x=y"}});
    expect_refused(
        read_cgroup, "is no cgroup",
        {"", "kubepods.slice", "sys/fs/cgroup/x", "/a/../b", "/a/.", "/../a/..", "x:/a"});
    EXPECT_EQ(is_cgroup("/../x"), std::nullopt) << "it cannot be looked for there";
}

/// A container without privileges has its own cgroup mounted, and a host path is not to be found
/// there even if it exists.
TEST(Cgroups, AreUnknownBelowAMountOfAnother) {
    char folder[] = "/tmp/cgroups.XXXXXX";
    ASSERT_TRUE(::mkdtemp(folder));
    const std::string mountinfo = std::string(folder) + "/mountinfo";
    const auto mounted = [&](const std::string &root, const std::string &type) {
        std::ofstream(mountinfo) << "30 23 0:26 " << root << " " << folder
                                 << " rw,relatime shared:4 - " << type << " none rw\n";
    };
    std::filesystem::create_directory(std::string(folder) + "/x");
    for (const char *const type : {"cgroup", "cgroup2"}) {
        mounted("/", type);
        EXPECT_EQ(is_cgroup("/x", mountinfo), true);
        EXPECT_EQ(is_cgroup("/y", mountinfo), false);
        mounted("/kubepods.slice/cri-containerd-3f2a.scope", type);
        EXPECT_EQ(is_cgroup("/x", mountinfo), std::nullopt);
        mounted("/../..", type);
        EXPECT_EQ(is_cgroup("/y", mountinfo), std::nullopt);
    }
    mounted("/", "cgrouped");
    EXPECT_EQ(is_cgroup("/x", mountinfo), std::nullopt) << "no hierarchy is mounted";
    std::filesystem::remove_all(folder);
}

TEST(ProcessNumbers, AreThoseThatLinuxGives) {
    EXPECT_EQ(read_pid("1"), 1U);
    EXPECT_EQ(read_pid("4194304"), 4'194'304U);
    for (const char *none : {"", "0", "-1", "01", "1x", " 1", "x", "4194305", "2147483648",
                             "99999999999999999999", "0x10"})
        EXPECT_FALSE(read_pid(none)) << none;
}

} // namespace
