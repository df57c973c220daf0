// SPDX-License-Identifier: MIT OR GPL-2.0
#include <gtest/gtest.h>

#include "lib/base/gpu_name.hpp"

using namespace nvdebug::base;

TEST(GpuName, IsAnAddressInEachForm) {
    for (const char *same : {"0000:3b:00.0", "00000000:3B:00.0", "0000:3B:00.0", "3b:00.0",
                             "3B:00.0", "3b:0.0", "3b:0", "0:3b:0.0"}) {
        const GpuName name = parse_gpu_name(same);
        ASSERT_TRUE(name.address) << same;
        EXPECT_TRUE(is_address(*name.address, "0000:3b:00.0")) << same;
        EXPECT_FALSE(is_address(*name.address, "0000:3c:00.0")) << same;
        EXPECT_FALSE(is_address(*name.address, "0000:3b:01.0")) << same;
        EXPECT_FALSE(name.index) << same;
    }
    EXPECT_TRUE(is_address(*parse_pci_address("10000:01:00.0"), "10000:01:00.0"));
    EXPECT_FALSE(is_address(*parse_pci_address("0000:01:00.0"), "10000:01:00.0"));
    EXPECT_FALSE(is_address(*parse_pci_address("01:00.1"), "0000:01:00.0"));
    EXPECT_TRUE(is_address(*parse_pci_address("01:00.0"), "10000:01:00.0")) << "any domain";
    for (const char *none : {"", ":", "::", "3b", "3b:", ":00.0", "3b:00.", "3b:00.8", "3b:20.0",
                             "13b:00.0", "0000:3b:00.0:1", "000000000:3b:00.0", "-1:00.0",
                             "3b:00.0 ", "0x3b:00.0", "+3:00.0", "3b:00.0.0"})
        EXPECT_FALSE(parse_pci_address(none)) << none;
}

TEST(GpuName, IsANumber) {
    EXPECT_EQ(parse_gpu_name("0").index, 0);
    EXPECT_EQ(parse_gpu_name("17").index, 17);
    EXPECT_EQ(parse_gpu_name("gpu1").index, 1);
    EXPECT_EQ(parse_gpu_name("GPU0").index, 0);
    for (const char *none :
         {"", "gpu", "-1", "+1", "1 ", "01", "1.0", "99999999999999999999", "gpu-1", "x"})
        EXPECT_FALSE(parse_gpu_name(none).index) << none;
}

TEST(GpuName, IsAUuid) {
    const char *const whole = "GPU-57a2d120-1234-5678-9abc-def012345678";
    for (const char *begin :
         {"GPU-57a2d120-1234-5678-9abc-def012345678", "GPU-57A2D120-1234", "gpu-57a2", "GPU-"})
        EXPECT_TRUE(begins_uuid(parse_gpu_name(begin), whole)) << begin;
    for (const char *other : {"", "57a2", "GPU-58", "0", "MIG-57a2"})
        EXPECT_FALSE(begins_uuid(parse_gpu_name(other), whole)) << other;
    EXPECT_TRUE(parse_gpu_name("MIG-57a2").mig);
    EXPECT_FALSE(parse_gpu_name("gh100").mig);
}

TEST(GpuName, IsADeviceFile) {
    EXPECT_EQ(parse_gpu_name("/dev/nvidia0").minor, 0U);
    EXPECT_EQ(parse_gpu_name("/dev/nvidia17").minor, 17U);
    EXPECT_FALSE(parse_gpu_name("/dev/nvidia0").index);
    for (const char *none : {"/dev/nvidiactl", "/dev/nvidia", "/dev/nvidia01", "/dev/nvidia-uvm",
                             "/dev/nvidia0 ", "dev/nvidia0", "/dev/dri/card0"})
        EXPECT_FALSE(parse_gpu_name(none).is_gpu()) << none;
}

/// The device plugin of Kubernetes and CDI's files use these names.
TEST(GpuName, IsADeviceOfAContainer) {
    const char *const whole = "GPU-57a2d120-1234-5678-9abc-def012345678";
    for (const std::string kind :
         {"nvidia.com/gpu=", "k8s.device-plugin.nvidia.com/gpu=", "runtime.nvidia.com/gpu="}) {
        EXPECT_EQ(parse_gpu_name(kind + "1").index, 1U) << kind;
        EXPECT_TRUE(parse_gpu_name(kind + "all").all) << kind;
        EXPECT_TRUE(begins_uuid(parse_gpu_name(kind + whole), whole)) << kind;
        EXPECT_TRUE(parse_gpu_name(kind + "0:1").mig) << "a part of GPU 0, and no PCI address";
        EXPECT_TRUE(parse_gpu_name(kind + "MIG-57a2").mig);
    }
    EXPECT_TRUE(begins_uuid(parse_gpu_name(std::string(whole) + "::0"), whole));
    EXPECT_TRUE(begins_uuid(
        parse_gpu_name("k8s.device-plugin.nvidia.com/gpu=" + std::string(whole) + "::13"), whole));
    for (const char *none : {"nvidia.com/gpu=", "amd.com/gpu=0", "xnvidia.com/gpu=0", "gpu=0",
                             "nvidia.com/mig=0", "GPU-57a2::", "GPU-57a2::x", "0=0", "=0"})
        EXPECT_FALSE(parse_gpu_name(none).is_gpu()) << none;
}

TEST(GpuName, RejectsUuidsOfAnotherForm) {
    for (const char *none :
         {"GPU-xyz", "GPU-57a2-1", "GPU-57a2d1201", "GPU-57a2d120-1234-5678-9abc-def0123456789"})
        EXPECT_FALSE(parse_gpu_name(none).is_gpu()) << none;
}

namespace {

/// Four GPUs. The device files of the first two are exchanged, and the last GPU sleeps.
class FourGpus : public GpuSet {
  public:
    std::size_t count() const override { return 4; }
    std::size_t number(std::size_t place) const override { return place + first; }
    std::string address(std::size_t place) const override {
        return "0000:0" + std::to_string(place + 1) + ":00.0";
    }
    bool is_asleep(std::size_t place) const override { return place == 3; }
    std::optional<std::string> uuid(std::size_t place) const override {
        asked.push_back(place);
        return place == 2 ? std::nullopt
                          : std::optional("GPU-5" + std::to_string(place) +
                                          "a2d120-1234-5678-9abc-def012345678");
    }
    std::optional<unsigned> device_minor(std::size_t place) const override {
        asked.push_back(place);
        constexpr unsigned minors[] = {1, 0, 2, 3};
        return minors[place];
    }
    std::size_t first = 0;
    mutable std::vector<std::size_t> asked;
};

} // namespace

TEST(GpuNames, AreFoundInEachForm) {
    using Places = std::vector<std::size_t>;
    const std::pair<const char *, Places> cases[] = {
        {"0", {0}},
        {"2,0", {2, 0}},
        {"0, 2", {0, 2}},
        {"0,gpu0,0000:01:00.0,/dev/nvidia1", {0}},
        {"all", {0, 1, 2, 3}},
        {"1,all", {1, 0, 2, 3}},
        {"/dev/nvidia0", {1}},
        {"nvidia.com/gpu=0,nvidia.com/gpu=3", {0, 3}},
        {"GPU-51", {1}},
        {"gpu-53A2D120-1234-5678-9abc-def012345678::2", {3}},
        {"00000000:03:00.0", {2}},
    };
    for (const auto &[words, places] : cases) {
        const FourGpus gpus;
        const auto names = parse_gpu_names(words);
        ASSERT_TRUE(names) << words;
        const auto found = find_gpus(*names, gpus);
        ASSERT_TRUE(found) << words << ": " << found.error();
        EXPECT_EQ(*found, places) << words;
    }
}

TEST(GpuNames, RefuseWordsForNoneOrSeveralGpus) {
    FourGpus gpus;
    const auto error = [&](const char *words) {
        const auto found = find_gpus(*parse_gpu_names(words), gpus);
        return found ? "" : found.error();
    };
    EXPECT_EQ(error("4"), "there is no GPU '4': here are 0 to 3");
    EXPECT_EQ(error("GPU-5"), "more than one GPU is 'GPU-5': here are 0 to 3");
    EXPECT_EQ(error("/dev/nvidia4"), "there is no GPU '/dev/nvidia4': here are 0 to 3");
    gpus.first = 4;
    EXPECT_EQ(error("3"), "there is no GPU '3': here are 4 to 7");
    EXPECT_EQ(error("4"), "");
    for (const char *words : {"", ",", "0,", "0,,1", "x", "0;1", "MIG-57a2", "0-3"})
        EXPECT_FALSE(parse_gpu_names(words)) << words;
    EXPECT_NE(parse_gpu_names("/dev/nvidiactl").error().find("or its device file (/dev/nvidia0)"),
              std::string::npos);
}

/// A question to a sleeping GPU wakes it, so it is not asked if an awake GPU has the name.
TEST(GpuNames, DoNotWakeSleepingGpusIfAnAwakeOneFits) {
    const FourGpus gpus;
    EXPECT_TRUE(find_gpus(*parse_gpu_names("GPU-51"), gpus));
    EXPECT_TRUE(find_gpus(*parse_gpu_names("0,0000:04:00.0,gpu3"), gpus));
    EXPECT_TRUE(std::ranges::find(gpus.asked, 3U) == gpus.asked.end());
    gpus.asked.clear();
    EXPECT_TRUE(find_gpus(*parse_gpu_names("/dev/nvidia1"), gpus));
    EXPECT_EQ(gpus.asked, std::vector<std::size_t>{0}) << "a whole name is one GPU's";
}
