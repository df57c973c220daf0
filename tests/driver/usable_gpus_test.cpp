// SPDX-License-Identifier: MIT OR GPL-2.0
// GPUs that the driver lists and this process may not open, over the stand-in.
#include "eight_gpus.hpp"

#include "nvdebug/capture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

namespace driver_test {
namespace {

class UsableGpus : public EightGpus {
  protected:
    nvdebug::UsableGpus usable() const { return nvdebug::usable_gpus(bench.tree()).value(); }
    static std::vector<std::uint32_t> numbers(const std::vector<nvdebug::Gpu> &gpus) {
        std::vector<std::uint32_t> numbers;
        for (const nvdebug::Gpu &gpu : gpus)
            numbers.push_back(gpu.index());
        return numbers;
    }
    using Numbers = std::vector<std::uint32_t>;
    using Sentences = std::vector<std::string>;
};

TEST_F(UsableGpus, AreAllIfAllCanBeOpened) {
    EXPECT_EQ(numbers(usable().gpus), (Numbers{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(usable().left_out, Sentences());
}

TEST_F(UsableGpus, LackThoseWithoutAccess) {
    kernel.cannot_open = {{"/dev/nvidia0", ENOENT}, {"/dev/nvidia2", ENOENT},
                          {"/dev/nvidia3", ENOENT}, {"/dev/nvidia5", EPERM},
                          {"/dev/nvidia6", EACCES}, {"/dev/nvidia7", EIO}};
    EXPECT_EQ(numbers(usable().gpus), (Numbers{1, 4, 7})) << "7 is broken, and not withheld";
    EXPECT_EQ(usable().left_out,
              (Sentences{"GPU 5 is left out: this container or unit has no access to it "
                         "(/dev/nvidia5: Operation not permitted)",
                         "GPUs 0, 2, 3 are left out: this container or unit has no access to them "
                         "(/dev/nvidia0: No such file or directory)",
                         "GPU 6 is left out: you have no access to it (/dev/nvidia6: Permission "
                         "denied)"}));
}

TEST_F(UsableGpus, AreAllIfNoneCanBeOpened) {
    for (std::uint32_t n = 0; n < 8; n++)
        kernel.cannot_open["/dev/nvidia" + std::to_string(n)] = ENOENT;
    EXPECT_EQ(usable().gpus.size(), 8U);
    EXPECT_EQ(usable().left_out, Sentences());
}

TEST_F(UsableGpus, AreFoundWithoutOpeningOne) {
    const nvdebug::Tree tree = bench.tree();
    const auto files = kernel.open_files();
    const auto ioctls = kernel.ioctls;
    ASSERT_TRUE(nvdebug::usable_gpus(tree));
    EXPECT_EQ(kernel.open_files(), files);
    EXPECT_EQ(kernel.ioctls, ioctls);
}

TEST(RunningKernel, AccessFailsAsOpenDoes) {
    const auto kernel = nvdebug::driver::running_kernel();
    for (const char *const path : {"/dev/null", "/dev/nvidia-none", "/dev/null/none"}) {
        const int opened = kernel->open(path);
        EXPECT_EQ(kernel->access(path), std::min(opened, 0)) << path;
        if (opened >= 0)
            kernel->close(opened);
    }
}

TEST_F(Driver, CaptureNamesAGpuThatIsNotInIt) {
    const std::string file = ::testing::TempDir() + "/not-in-it.capture";
    kernel.cannot_open["/dev/nvidia0"] = EIO;
    const auto report = nvdebug::write_capture(bench.tree(), {}, file);
    ASSERT_TRUE(report) << report.error().sentence;
    ASSERT_EQ(report->failed.size(), 1U);
    EXPECT_EQ(report->failed.front().code, nvdebug::ErrorCode::gone);
    EXPECT_TRUE(report->failed.front().sentence.starts_with("the GPU of /dev/nvidia0 has gone"))
        << report->failed.front().sentence;
}

} // namespace
} // namespace driver_test
