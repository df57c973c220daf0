// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file An observer sees each turn, wait and request of a run, which has only sums as measures.
#pragma once

#include "controller.hpp"

namespace simulation {

/// A rank of a job on its GPU.
struct RankPlace {
    std::size_t gpu, job, rank;
    auto operator<=>(const RankPlace &) const = default;
};

/// Is called by a machine. The calls that are about one GPU come in the order of time.
class Observer {
  public:
    virtual ~Observer() = default;
    /// A turn ended. NVIDIA's driver records the same turns.
    /// @param whole false: the run ended before the turn did
    virtual void turn(const RankPlace &, Ns /*begin*/, Ns /*end*/, bool /*whole*/) {}
    /// A rank had work without its GPU from @p begin on, and has the GPU at @p end.
    /// @param whole false: the run ended before the wait did
    virtual void wait(const RankPlace &, Ns /*begin*/, Ns /*end*/, bool /*whole*/) {}
    /// The work of a rank progressed from @p begin to @p end. Where a turn is resumed or ends late, it
    /// has its GPU and makes no progress.
    virtual void progress(const RankPlace &, Ns /*begin*/, Ns /*end*/) {}
    /// A request of the controller has taken effect.
    virtual void served(const RankPlace &, const Request &, Ns /*now*/) {}
};

} // namespace simulation
