// SPDX-License-Identifier: MIT OR GPL-2.0
// The facts come from a folder that looks like the root of a machine.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "check/doctor.hpp"
#include "state/refusal.hpp"

namespace {

namespace fs = std::filesystem;
using nvdebugctl::Finding;
using nvdebugctl::Verdict;

constexpr char kInfo[] =
    "chip: GA100\nchip_id: 0x170\ngeneration: Ampere\nrevision: 0xa1\n"
    "pci_address: 0000:01:00.0\npci_id: 10de:20b0\npci_subsystem: 10de:134f\n"
    "pci_class: 0x030200\nbar0_size: 16777216\nbar1_size: 16777216\nbar2_size: 33554432\n"
    "driver: -\nchannels: 2048\nchannel_ids: per-runlist\nrunlists: 0 1\n"
    "feature device_info: yes\nfeature runlist: yes\nfeature channel_control: yes\n"
    "feature copy_topology: no (registers not public)\nfeature pram_window: yes\n"
    "page_tables: 2\nvideo_memory: 42949672960\n";

class DoctorTest : public testing::Test {
  protected:
    DoctorTest() : root_(testing::TempDir() + "nvdebug-doctor-" + std::to_string(getpid())) {
        fs::remove_all(root_);
        put("/proc/sys/kernel/osrelease", "6.1.0-test\n");
        put("/lib/modules/6.1.0-test/modules.dep", "kernel/fs/ext4.ko: kernel/fs/mbcache.ko\n");
        rights(0, 0x1ffffffffff);
        put("/sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
        put("/sys/module/module/parameters/sig_enforce", "N\n");
        gpu();
        load();
    }
    ~DoctorTest() override { fs::remove_all(root_); }

    void put(const std::string &path, const std::string &text) {
        fs::create_directories(fs::path(root_ + path).parent_path());
        std::ofstream(root_ + path, std::ios::binary) << text;
    }

    void rights(unsigned uid, unsigned long long capabilities, const std::string &groups = "") {
        char mask[17];
        std::snprintf(mask, sizeof(mask), "%016llx", capabilities);
        const std::string id = std::to_string(uid);
        put("/proc/self/status", "Name:\tx\nUid:\t" + id + "\t" + id + "\t" + id + "\t" + id +
                                     "\nGid:\t100\t100\t100\t100\nGroups:\t" + groups +
                                     "\nCapEff:\t" + mask + "\n");
        put("/proc/self/uid_map", "         0          0 4294967295\n");
    }

    void gpu() {
        const std::string device = "/sys/bus/pci/devices/0000:01:00.0";
        put(device + "/vendor", "0x10de\n");
        put(device + "/device", "0x20b0\n");
        put(device + "/class", "0x030200\n");
        put("/sys/bus/pci/devices/0000:00:02.0/vendor", "0x8086\n");
        put("/sys/bus/pci/devices/0000:00:02.0/class", "0x030000\n");
        put("/sys/bus/pci/devices/0000:01:00.1/vendor", "0x10de\n");
        put("/sys/bus/pci/devices/0000:01:00.1/class", "0x040300\n");
    }

    void bind(const std::string &driver) {
        const std::string link = root_ + "/sys/bus/pci/devices/0000:01:00.0/driver";
        fs::remove(link);
        fs::create_symlink("../../drivers/" + driver, link);
    }

    void load() {
        for (const auto &[name, value] : {std::pair{"pram_window", "auto"},
                                          {"read_only", "N"},
                                          {"state_all", "N"},
                                          {"state_gid", "-1"}})
            put(std::string("/sys/module/nvdebug/parameters/") + name, std::string(value) + "\n");
        put("/proc/gpu0/info", kInfo);
    }

    void unload() {
        fs::remove_all(root_ + "/sys/module/nvdebug");
        fs::remove_all(root_ + "/proc/gpu0");
    }

    std::vector<Finding> findings() { return findings_about(nvdebugctl::gather(root_)); }

    Finding about(const std::string &subject) {
        for (const Finding &finding : findings())
            if (finding.subject == subject)
                return finding;
        ADD_FAILURE() << "nothing about " << subject;
        return {};
    }

    bool any(Verdict verdict) {
        const auto all = findings();
        return std::any_of(all.begin(), all.end(),
                           [&](const Finding &finding) { return finding.verdict == verdict; });
    }

    std::string root_;
};

TEST_F(DoctorTest, HealthyMachineHasNoTrouble) {
    EXPECT_FALSE(any(Verdict::trouble));
    EXPECT_FALSE(any(Verdict::attention));
    EXPECT_EQ(about("rights").verdict, Verdict::ok);
    EXPECT_EQ(about("0000:01:00.0").answer,
              "gpu0: GA100 (Ampere); without copy_topology (registers not public)");
}

TEST_F(DoctorTest, ModuleNotLoaded) {
    unload();
    EXPECT_EQ(about("module").verdict, Verdict::trouble);
    EXPECT_NE(about("module").fix.find("headers of kernel 6.1.0-test"), std::string::npos);
    EXPECT_EQ(about("module").fix.find("apt-get"), std::string::npos) << "no such package";
    put("/usr/share/doc/linux-image-6.1.0-test/copyright", "");
    EXPECT_TRUE(about("module").fix.starts_with("apt-get install linux-headers-6.1.0-test,"));
    put("/proc/sys/kernel/osrelease", "5.10.120-tegra\n");
    EXPECT_NE(about("module").fix.find("nvidia-l4t-kernel-headers"), std::string::npos);
    put("/proc/sys/kernel/osrelease", "6.1.0-test\n");
    put("/lib/modules/6.1.0-test/build/Makefile", "");
    EXPECT_NE(about("module").fix.find("nvdebug-dkms"), std::string::npos);
    put("/lib/modules/6.1.0-test/modules.dep", "updates/dkms/nvdebug.ko.xz:\n");
    EXPECT_NE(about("module").answer.find("updates/dkms/nvdebug.ko.xz"), std::string::npos);
    EXPECT_NE(about("module").fix.find("modprobe"), std::string::npos);
}

/// Without a GPU, the finding about it comes first, because nothing that could be installed helps.
TEST_F(DoctorTest, MissingGpuIsTheFirstFinding) {
    const auto subjects = [this] {
        std::vector<std::string> names;
        for (const Finding &finding : findings())
            names.push_back(finding.subject);
        return names;
    };
    fs::remove_all(root_ + "/sys/bus/pci/devices/0000:01:00.0");
    fs::remove_all(root_ + "/proc/gpu0");
    EXPECT_EQ(subjects().front(), "gpus");
    EXPECT_EQ(about("module").verdict, Verdict::ok) << "it is loaded";
    unload();
    for (const unsigned uid : {0u, 1000u}) {
        rights(uid, 0);
        EXPECT_EQ(subjects(), std::vector<std::string>{"gpus"}) << uid;
    }
}

TEST_F(DoctorTest, RightsComeBeforeInstallation) {
    unload();
    rights(1000, 0);
    std::vector<std::string> subjects;
    for (const Finding &finding : findings())
        subjects.push_back(finding.subject);
    EXPECT_LT(std::ranges::find(subjects, "rights"), std::ranges::find(subjects, "module"));
    EXPECT_EQ(std::ranges::count(subjects, "module"), 1);
}

/// If NVIDIA's driver shows everything, findings about the module need no action.
TEST_F(DoctorTest, DriverSuffices) {
    unload();
    bind("nvidia");
    put("/proc/driver/nvidia/gpus/0000:01:00.0/information", "GPU Firmware: \t 580.159.04\n");
    put("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
    put("/sys/module/module/parameters/sig_enforce", "Y\n");
    nvdebugctl::Machine machine = nvdebugctl::gather(root_);
    machine.driver = nvdebugctl::DriverFacts{"NVIDIA's driver 580.159.04", ""};
    const auto all = findings_about(machine);
    for (const Finding &finding : all)
        EXPECT_EQ(finding.verdict, Verdict::ok) << finding.subject << ": " << finding.answer;
    EXPECT_EQ(all.front().subject, "rights");
    EXPECT_EQ(all[1].subject, "driver");
    EXPECT_EQ(all[2].subject, "module");
    EXPECT_TRUE(all[2].fix.starts_with("only for these: "));

    machine.driver->left_over = {"gpu0: process 557 (one) was left with changes"};
    const auto left = findings_about(machine);
    EXPECT_EQ(left[2].subject, "tasks");
    EXPECT_EQ(left[2].verdict, Verdict::attention);
    EXPECT_EQ(left[2].answer, machine.driver->left_over[0]);
    machine.driver->left_over.clear();

    machine.driver->not_shown = {"GPU 0 is left out: this container or unit has no access to it"};
    const auto part = findings_about(machine);
    EXPECT_EQ(part[1].verdict, Verdict::ok) << "the driver shows other GPUs";
    EXPECT_EQ(part[2].subject, "driver");
    EXPECT_EQ(part[2].verdict, Verdict::attention);
    EXPECT_EQ(part[2].answer, machine.driver->not_shown[0]);
    machine.driver->not_shown.clear();

    machine.driver->refused = "only root may";
    const auto refused = findings_about(machine);
    EXPECT_EQ(refused[1].verdict, Verdict::attention);
    EXPECT_EQ(refused[2].verdict, Verdict::trouble) << "then the module is the only way";
}

/// Two jobs of two ranks on GPUs 0 and 1, and a third one on others.
TEST_F(DoctorTest, NamesJobsThatShareGpusWithoutWindows) {
    nvdebugctl::Machine machine = nvdebugctl::gather(root_);
    machine.driver = nvdebugctl::DriverFacts{"NVIDIA's driver 580.159.04", ""};
    const auto job = [](std::uint32_t pid, std::vector<std::uint32_t> gpus,
                        std::optional<std::uint64_t> late) {
        nvdebug::MeasuredJob made;
        for (const std::uint32_t gpu : gpus)
            made.processes.push_back({gpu, {pid + gpu, "train", {}}});
        if (late) {
            std::vector<std::vector<nvdebug::JobTurn>> ranks(gpus.size(), {{0, 100}});
            ranks[0] = {{*late, 100 + *late}};
            made.times.emplace().add(ranks);
        }
        return made;
    };
    const auto about_jobs = [&] {
        std::string text;
        for (const Finding &finding : findings_about(machine))
            if (finding.subject == "jobs") {
                EXPECT_EQ(finding.verdict, Verdict::attention);
                EXPECT_NE(finding.fix.find("nvqos"), std::string::npos);
                EXPECT_NE(finding.fix.find("docs/gangs.md"), std::string::npos);
                text += finding.answer + "\n";
            }
        return text;
    };
    EXPECT_EQ(about_jobs(), "");
    machine.driver->jobs = {job(10, {0, 1, 2, 3}, 69), job(20, {0, 1, 2, 3}, 5),
                            job(30, {4, 5}, 90)};
    EXPECT_EQ(about_jobs(),
              "train[10] (4 processes) and train[20] (4 processes) share GPUs 0-3 without windows: "
              "together 31 % and 95 %, the part of its time in which all GPUs of a job run it\n");
    machine.driver->jobs[0] = job(10, {0, 1, 2, 3}, 10);
    EXPECT_EQ(about_jobs(), "") << "windows, or phases that agree by chance";
    machine.driver->jobs[0] = job(10, {0, 1, 2, 3}, {});
    EXPECT_EQ(about_jobs(), "") << "not known";
    machine.driver->jobs = {job(10, {0, 1}, 50), job(20, {1, 2}, 50)};
    EXPECT_EQ(about_jobs(), "") << "one common GPU";
    machine.driver->jobs = {job(10, {0, 1, 2}, 50), job(20, {1, 2, 3}, 50), job(30, {1, 2}, 50)};
    EXPECT_NE(about_jobs().find("train[31] (2 processes)"), std::string::npos) << about_jobs();
}

TEST_F(DoctorTest, WindowsSubsystem) {
    unload();
    fs::remove_all(root_ + "/sys/bus/pci/devices/0000:01:00.0");
    for (const char *release : {"5.15.167.4-microsoft-standard-WSL2", "4.4.0-19041-Microsoft"}) {
        put("/proc/sys/kernel/osrelease", std::string(release) + "\n");
        const auto all = findings();
        ASSERT_EQ(all.size(), 1u) << "nothing to install there";
        EXPECT_EQ(all[0].verdict, Verdict::trouble);
        EXPECT_NE(all[0].answer.find("/dev/dxg"), std::string::npos);
    }
}

/// Files that this process cannot see do not count as missing.
TEST_F(DoctorTest, HiddenFilesAreUnknownAndNotMissing) {
    const auto subjects = [this](Verdict verdict) {
        std::vector<std::string> names;
        for (const Finding &finding : findings())
            if (finding.verdict == verdict)
                names.push_back(finding.subject);
        return names;
    };
    using Names = std::vector<std::string>;
    fs::remove_all(root_ + "/proc/sys");
    fs::remove_all(root_ + "/proc/gpu0");
    EXPECT_EQ(subjects(Verdict::unknown), Names{"proc"});
    EXPECT_NE(about("proc").answer.find("subset=pid"), std::string::npos);
    EXPECT_EQ(subjects(Verdict::trouble), Names());
    fs::remove_all(root_ + "/proc");
    EXPECT_EQ(subjects(Verdict::unknown), Names{"proc"});
    EXPECT_EQ(subjects(Verdict::attention), Names()) << "rights are not known";
    fs::remove_all(root_ + "/sys");
    EXPECT_EQ(subjects(Verdict::unknown), (Names{"proc", "sys"}));
    EXPECT_EQ(subjects(Verdict::trouble), Names());
}

TEST_F(DoctorTest, AnotherModuleOfThatName) {
    fs::remove_all(root_ + "/sys/module/nvdebug/parameters");
    EXPECT_EQ(about("module").verdict, Verdict::trouble);
    EXPECT_NE(about("module").fix.find("rmmod"), std::string::npos);
}

TEST_F(DoctorTest, SignaturesAreEnforced) {
    put("/sys/module/module/parameters/sig_enforce", "Y\n");
    EXPECT_EQ(about("signature").verdict, Verdict::ok) << "it is loaded, so it was signed";
    unload();
    put("/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c",
        std::string("\x06\0\0\0\x01", 5));
    EXPECT_EQ(about("signature").verdict, Verdict::attention);
    EXPECT_TRUE(about("signature").answer.starts_with("Secure Boot is on"));
}

TEST_F(DoctorTest, Lockdown) {
    put("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
    EXPECT_EQ(about("lockdown").verdict, Verdict::attention);
    EXPECT_NE(about("lockdown").answer.find("(integrity)"), std::string::npos);
    EXPECT_NE(about("rights").answer.find("controls are refused"), std::string::npos);
}

TEST_F(DoctorTest, LockdownIsUnknownWithoutItsFile) {
    fs::remove(root_ + "/sys/kernel/security/lockdown");
    EXPECT_EQ(about("lockdown").verdict, Verdict::unknown);
}

TEST_F(DoctorTest, Rights) {
    rights(1000, 0, "24 44");
    EXPECT_NE(about("rights").answer.find("controls need CAP_SYS_ADMIN"), std::string::npos);
    EXPECT_NE(about("rights").fix.find("state_gid"), std::string::npos);
    put("/sys/module/nvdebug/parameters/state_gid", "44\n");
    EXPECT_EQ(about("rights").answer, "you may read; controls need CAP_SYS_ADMIN");
    rights(0, 0x1ffffffffff);
    put("/proc/self/uid_map", "         0     100000      65536\n");
    EXPECT_NE(about("rights").answer.find("namespace"), std::string::npos);
}

TEST_F(DoctorTest, Parameters) {
    put("/sys/module/nvdebug/parameters/read_only", "Y\n");
    put("/sys/module/nvdebug/parameters/pram_window", "never\n");
    EXPECT_EQ(about("read_only").verdict, Verdict::attention);
    EXPECT_EQ(about("pram_window").verdict, Verdict::attention);
}

TEST_F(DoctorTest, WindowWithADriver) {
    const auto said = [this] {
        const auto all = findings();
        return std::any_of(all.begin(), all.end(), [](const Finding &finding) {
            return finding.answer.find("PRAMIN window is not moved") != std::string::npos;
        });
    };
    EXPECT_FALSE(said()) << "without a driver it is";
    bind("nvidia");
    EXPECT_TRUE(said());
    put("/sys/module/nvdebug/parameters/pram_window", "never\n");
    EXPECT_FALSE(said()) << "check_parameters() says it then";
}

TEST_F(DoctorTest, DriverAndFirmware) {
    bind("nvidia");
    put("/proc/driver/nvidia/gpus/0000:01:00.0/information",
        "Model: \t\t A100\nGPU Firmware: \t N/A\n");
    EXPECT_EQ(findings().back().answer, "driver nvidia, without GSP firmware");
    EXPECT_EQ(nvdebugctl::controls_undone(root_, "0000:01:00.0"), std::nullopt);
    put("/proc/driver/nvidia/gpus/0000:01:00.0/information",
        "Model: \t\t A100\nGPU Firmware: \t 550.54.14\n");
    EXPECT_EQ(findings().back().verdict, Verdict::attention);
    EXPECT_NE(findings().back().answer.find("550.54.14"), std::string::npos);
    EXPECT_TRUE(nvdebugctl::controls_undone(root_, "0000:01:00.0")
                    .value()
                    .starts_with("GSP firmware 550.54.14"));
    EXPECT_EQ(nvdebugctl::controls_undone(root_, "0000:02:00.0"), std::nullopt)
        << "NVIDIA's driver has not it";
    bind("vfio-pci");
    EXPECT_TRUE(findings().back().answer.starts_with("vfio-pci"));
}

TEST_F(DoctorTest, GpuThatTheModuleDoesNotShowIsTrouble) {
    fs::remove_all(root_ + "/proc/gpu0");
    EXPECT_EQ(about("0000:01:00.0").verdict, Verdict::trouble);
    std::string info = kInfo;
    info.replace(info.find("GA100"), 5, "unknown");
    put("/proc/gpu0/info", info);
    EXPECT_NE(about("0000:01:00.0").answer.find("0x170 is unknown"), std::string::npos);
    fs::remove_all(root_ + "/sys/bus/pci/devices/0000:01:00.0");
    fs::remove_all(root_ + "/proc/gpu0");
    EXPECT_EQ(about("gpus").verdict, Verdict::trouble);
}

constexpr char kIntegratedInfo[] =
    "chip: GA10B\nchip_id: 0x17b\ngeneration: Ampere\nrevision: 0xa1\npci_address: -\n"
    "pci_id: -\npci_subsystem: -\npci_class: -\nbar0_size: 16777216\nbar1_size: -\n"
    "bar2_size: -\ndriver: nvgpu\nchannels: 512\nchannel_ids: per-runlist\nrunlists: 0\n"
    "feature device_info: yes\npage_tables: 2\nvideo_memory: -\n"
    "platform_device: 17000000.gpu\ncompatible: nvidia,ga10b\n";

TEST_F(DoctorTest, IntegratedGpu) {
    const std::string device = "/sys/bus/platform/devices/17000000.gpu";
    fs::remove_all(root_ + "/sys/bus/pci/devices/0000:01:00.0");
    put(device + "/of_node/compatible", std::string("vendor,x\0nvidia,ga10b\0", 22));
    put("/sys/bus/platform/devices/serial/of_node/compatible", std::string("nvidia,ga10bx\0", 14));
    put("/proc/gpu0/info", kIntegratedInfo);
    EXPECT_EQ(about("17000000.gpu").answer, "gpu0: GA10B (Ampere), every feature works");
    EXPECT_FALSE(any(Verdict::trouble)) << "there is a GPU, though not on PCI";
    EXPECT_FALSE(any(Verdict::attention)) << "it has no video memory behind a window";
    put(device + "/power/runtime_status", "suspended\n");
    EXPECT_EQ(findings().back().fix,
              "echo on | sudo tee /sys/bus/platform/devices/17000000.gpu/power/control");
    fs::remove_all(root_ + "/proc/gpu0");
    EXPECT_EQ(about("17000000.gpu").verdict, Verdict::trouble);
    EXPECT_NE(about("17000000.gpu").answer.find("nvidia,ga10b"), std::string::npos);
}

TEST_F(DoctorTest, GpuThatOnlyTheModuleKnows) {
    put("/proc/gpu1/info", kIntegratedInfo);
    EXPECT_EQ(about("17000000.gpu").answer, "gpu1: GA10B (Ampere), every feature works");
    EXPECT_EQ(about("0000:01:00.0").verdict, Verdict::ok);
}

TEST_F(DoctorTest, ControlsRefusedNamesTheReason) {
    const auto why = [this] {
        return nvdebugctl::controls_refused(root_).value_or("they are not");
    };
    EXPECT_EQ(why(), "they are not");
    rights(1000, 0);
    EXPECT_NE(why().find("CAP_SYS_ADMIN"), std::string::npos);
    put("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
    EXPECT_NE(why().find("lockdown is in force (integrity)"), std::string::npos);
    put("/sys/module/nvdebug/parameters/read_only", "Y\n");
    EXPECT_NE(why().find("read_only=1"), std::string::npos);
}

TEST_F(DoctorTest, SuspendedGpuNeedsAttention) {
    put("/sys/bus/pci/devices/0000:01:00.0/power/runtime_status", "suspended\n");
    EXPECT_EQ(findings().back().verdict, Verdict::attention);
}

} // namespace
