// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Gives gangs their windows: has the qos::WindowKeeper of all GPUs in a thread of its own,
/// and the threads of the GPUs carry its orders out.
///
/// GPUs with a tenant of several nodes have windows by the clock (ClockWindows), if others are on
/// them, too. The WindowKeeper has no tenants there. A GPU changes between the two at a whole second
/// of the clock, when jobs have come or gone.
///
/// All GPUs are asked for their turns at once. Then they carry out the halves of the orders one after
/// the other, as qos::HandOver puts them, and the next one does not wait long for a GPU that is slow.
/// Both have one deadline for all GPUs. A GPU that misses it has no windows any more, and its
/// governor decides; the others go on without it. It takes part again when its thread has answered.
///
/// If this program ends, is killed or suspended, the keepers of the tasks restore them, as for the
/// levers of a governor (nvdebug::HoldOptions).
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "clock_windows.hpp"
#include "gpu_thread.hpp"
#include "lib/qos/hand_over.hpp"

namespace nvqos {

class Conductor {
  public:
    /// The longest wait for the answers of all GPUs. While processes start or end, a request to the
    /// driver took up to 40 ms on an H200.
    static constexpr std::chrono::milliseconds usual_patience{250};

    /// Begins with windows.
    /// @param gpus outlive this object
    /// @param board the one of GpuGoals::Options::gangs
    /// @param clock of windows by the clock; GangBoard::set_clock() has whether it is used
    Conductor(const std::vector<std::unique_ptr<GpuThread>> &gpus, std::shared_ptr<GangBoard> board,
              NodeClock clock = {}, std::chrono::milliseconds patience = usual_patience);
    Conductor(const Conductor &) = delete;
    Conductor &operator=(const Conductor &) = delete;
    /// Gives no more orders, and waits for no GPU.
    ~Conductor();

  private:
    struct OfGpu {
        GpuThread *thread;
        bool has_windows = false;                   ///< by the last order
        bool is_by_clock = false;                   ///< windows by the clock decide there
        std::vector<qos::TenantOnGpu> tenants = {}; ///< now
        std::shared_ptr<const bool> is_back = {};   ///< GangBoard::change(); null: it takes part
    };
    template <typename T>
    struct Question {
        std::uint32_t gpu;
        std::function<std::optional<T>(GpuGoals &)> ask; ///< returns nothing if it fails
    };

    void run();
    void take_tenants(const GangBoard::Tenants &tenants);
    std::chrono::nanoseconds wait() const;
    void step();
    void step_by_clock();
    std::vector<qos::WindowTurns> take_turns();
    void carry_out(const std::vector<qos::WindowOrder> &orders);
    void leave_out(std::uint32_t gpu);
    std::optional<qos::GangReport> report_on(const qos::TenantOnGpu &tenant) const;
    void publish();
    template <typename T>
    std::vector<std::optional<T>> ask(const std::vector<Question<T>> &questions,
                                      std::chrono::milliseconds between = {});

    const std::shared_ptr<GangBoard> board_;
    const std::chrono::milliseconds patience_;
    // The following are for the thread alone.
    std::map<std::uint32_t, OfGpu> gpus_;
    qos::WindowKeeper keeper_;
    qos::HandOver hand_over_;
    ClockWindows clock_windows_;
    std::thread thread_;
};

} // namespace nvqos
