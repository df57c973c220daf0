// SPDX-License-Identifier: MIT OR GPL-2.0
// The thread of a GPU that cannot be used.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "served.hpp"

#include "tools/nvqos/keep/gpu_thread.hpp"

namespace {

using namespace std::chrono_literals;

// The other GPUs' goals begin only after this wait.
TEST(GpuThread, StartThatFailedEndsTheWaitForIt) {
    nvqos::GpuThread::Options options;
    options.between_tries = 1h;
    std::promise<void> may_fail;
    const nvqos::GpuThread gpu(
        0, 1,
        [failed = may_fail.get_future().share()] {
            failed.wait();
            return tl::unexpected(
                nvdebug::Error{nvdebug::ErrorCode::gone, ENODEV, "", "the GPU has gone"});
        },
        nvqos::Goals(), options, [](const std::string &) {});
    const auto until = std::chrono::steady_clock::now() + 60s;
    const auto waits = std::async(std::launch::async, [&] { return gpu.wait_for_start(until); });
    std::this_thread::sleep_for(100ms); // mostly it waits now
    may_fail.set_value();
    EXPECT_EQ(waits.wait_for(30s), std::future_status::ready);
    EXPECT_FALSE(gpu.is_up());
    ASSERT_TRUE(gpu.why_out());
    EXPECT_EQ(gpu.why_out()->sentence, "the GPU has gone");
}

class LateGpu : public served::Served {
  protected:
    LateGpu() {
        kernel.before_ioctl = [this] {
            if (is_late)
                answer_.wait();
        };
    }

    std::atomic<bool> is_late = false; ///< requests to the driver wait for `may_answer`
    std::promise<void> may_answer;

  private:
    const std::shared_future<void> answer_ = may_answer.get_future().share();
};

TEST_F(LateGpu, HasProcessesThatCameMeanwhile) {
    nvqos::GpuThread::Options options;
    options.longest_answer = 50ms;
    options.gpu_goals.dry_run = true;
    options.gpu_goals.longest_unlooked = 3600 * qos::second;
    const auto family = std::make_shared<nvqos::Family>();
    nvqos::Goals goals;
    goals.tenants.push_back({.name = "a", .who = {}, .goal = {}, .family = family});
    const nvdebug::base::Birth birth{557, kernel.processes[557].started};
    nvqos::GpuThread gpu(
        0, 1, [&] { return nvdebug::Result<nvdebug::Tree>(bench.tree()); }, goals, options,
        [](const std::string &) {});
    gpu.go();
    ASSERT_TRUE(driver_test::comes_true([&] { return gpu.has_tasks().has_value(); }));
    EXPECT_EQ(gpu.has_tasks(), std::vector<bool>{false});
    is_late = true;
    gpu.wake();
    ASSERT_TRUE(driver_test::comes_true([&] { return !gpu.plan() && !gpu.is_up(); }));
    family->add(birth);
    gpu.assign_tenants();
    may_answer.set_value();
    ASSERT_TRUE(driver_test::comes_true([&] { return gpu.is_up(); }));
    EXPECT_EQ(gpu.has_tasks(), std::vector<bool>{true});
}

} // namespace
