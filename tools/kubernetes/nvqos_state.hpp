// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The GPUs and the tenants of the running nvqos, as its socket shows them (docs/qos.md).
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "failure.hpp"

namespace nvdebug::kubernetes {

/// A GPU in the answer to `gpus` (schema nvqos.gpus.json).
struct KeptGpu {
    std::uint32_t number = 0;
    std::string uuid;    ///< empty: not known
    std::string address; ///< on its bus, `0000:01:00.0`; empty: not known
    bool is_up = false;  ///< goals are kept on it now
    std::string why;     ///< the reason for which it is left out; empty: it is not
    /// The largest share that one more tenant would be promised now; empty: the GPU is left out.
    std::optional<double> possible_percent;
};

/// The time that a tenant had on a GPU since it was held.
struct GotTime {
    std::uint32_t gpu = 0;
    double used_s = 0, time_s = 0;
    std::optional<double> percent;     ///< empty: too little time has passed
    std::optional<double> wait_p99_ms; ///< between turns; empty: there were few waits
};

/// A tenant in the answer to `list` (schema nvqos.held.json).
struct HeldTenant {
    std::string name;
    std::string goal;                        ///< `share 30 %`
    std::vector<std::uint32_t> gpus;         ///< empty: all
    std::vector<std::uint32_t> holders = {}; ///< processes with whose ends it ends
    std::vector<GotTime> got = {};           ///< on each GPU that it is kept on
};

struct NvqosState {
    std::vector<KeptGpu> gpus;
    std::vector<HeldTenant> tenants;
};

/// Asks the nvqos at the socket. The tenants are those before and after the GPUs were asked for, so
/// that both parts fit together. Fails if no nvqos answers within 5 s, or if it never stands still.
[[nodiscard]] Outcome<NvqosState> read_nvqos(const std::string &socket);

/// Reads the state once a second, in a thread of its own, because an nvqos that hangs must not stop
/// the rest of the program.
class NvqosFollower {
  public:
    using Take = std::function<void(const Outcome<NvqosState> &)>;
    /// Calls @p take in the thread, with each state and each failure.
    NvqosFollower(std::string socket, Take take);
    /// Waits for the thread, which may be waiting for an answer.
    ~NvqosFollower();
    NvqosFollower(const NvqosFollower &) = delete;
    NvqosFollower &operator=(const NvqosFollower &) = delete;

  private:
    void follow();

    const std::string socket_;
    const Take take_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool ending_ = false;
    std::thread thread_; // the last member, because it uses the others
};

} // namespace nvdebug::kubernetes
