// SPDX-License-Identifier: MIT OR GPL-2.0
// The thread of a GPU that cannot be used.
#include <gtest/gtest.h>

#include <future>
#include <thread>

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

} // namespace
