// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file An LLM engine that works off requests in steps, as vLLM does: one process, or one for each
/// GPU of a model that is split among several (tensor parallelism). Rank 0 then decides what each step
/// is, and the others follow.
///
/// A step is a pause of the CPU and then a kernel. If a request waits and the batch has room, the
/// step is the prefill of that request, which then has its first token. Otherwise the step
/// decodes, and each request of the batch has one more token at its end. An engine without requests
/// waits for the next one.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "random.hpp"
#include "scenario.hpp"

namespace simulation {

/// When the requests of a job come, the same for all ranks. Without arrivals all are there at once.
class Arrivals {
  public:
    Arrivals(const Job &job, std::uint64_t seed)
        : random_(seed, job.name, Random::Purpose::arrivals), mean_(job.mean_gap),
          variation_(job.gap_variation), last_(job.start) {}

    /// Returns when request @p number comes; they are counted from 0 on.
    Ns at(std::size_t number);

  private:
    Random random_;
    Ns mean_;
    Part variation_;
    Ns last_;
    std::vector<Ns> times_;
};

/// A request that has its last token.
struct ServedRequest {
    std::size_t number; ///< by arrival, from 0 on
    Ns arrived, first, last;
    std::int64_t tokens;
    std::vector<Ns> gaps = {}; ///< between its tokens

    Ns to_first() const { return first - arrived; }
    /// Returns the mean time of a token after the first one; there are at least two tokens.
    Ns per_token() const { return (last - first) / (tokens - 1); }
};

class Engine {
  public:
    /// @param load outlives the engine
    Engine(const EngineLoad &load, std::uint64_t seed, const std::string &name)
        : load_(load), random_(seed, name, Random::Purpose::lengths) {}

    /// Returns when the next step begins: at once if there are requests.
    Ns due(Arrivals &arrivals) const { return running_.empty() ? arrivals.at(next_) : 0; }
    bool has_requests(Arrivals &arrivals, Ns now) const { return due(arrivals) <= now; }
    /// Begins a step. It is called by rank 0 alone, as end_step() is.
    void begin_step(Arrivals &arrivals, Ns now);
    void end_step(Ns now);
    std::size_t begun() const { return begun_; } ///< steps
    /// Returns how long the kernel of the last step that was begun takes.
    Ns step_time() const { return step_time_; }
    /// Returns the requests that have ended since the last call.
    std::vector<ServedRequest> take_served() { return std::exchange(served_, {}); }

  private:
    struct Running {
        ServedRequest request;
        std::int64_t made = 0; ///< tokens
    };

    const EngineLoad &load_;
    Random random_;
    std::vector<Running> running_; ///< the batch
    std::size_t next_ = 0;         ///< the number of the next request
    std::size_t begun_ = 0;        ///< steps
    bool is_prefill_ = false;      ///< the present step
    Ns step_time_ = 0;             ///< of its kernel
    std::vector<ServedRequest> served_;
};

} // namespace simulation
