// SPDX-License-Identifier: MIT OR GPL-2.0
// A GPU as far as the stand-in has one: where its TPCs are, and which of them a launch may use.
#pragma once

#include "cuda.hpp"
#include "descriptor.hpp"

#include <string>
#include <vector>

namespace stand_in {

struct Tpc {
    unsigned bit; ///< in the mask
    unsigned gpc; ///< virtual: where clusters are
    unsigned logical_gpc;
    unsigned first_sm; ///< of two
    bool deaf = false; ///< to its bit
};

/// What of a launch matters here.
struct Launch {
    Dimensions grid = {1, 1, 1}, block = {1, 1, 1}, cluster = {1, 1, 1};
    unsigned shared_bytes = 0;
    bool cooperative = false;

    std::uint64_t blocks() const { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }
    unsigned threads() const { return block[0] * block[1] * block[2]; }
    unsigned cluster_blocks() const { return cluster[0] * cluster[1] * cluster[2]; }
    bool operator==(const Launch &) const = default;
};

class Gpu {
  public:
    const Layout *layout;
    std::string name;
    int major, minor, threads_per_sm;
    std::vector<Tpc> tpcs;
    cuda::Uuid uuid;
    std::string address;
    std::size_t most_disabled; ///< by masks that it obeys

    unsigned sms() const { return 2 * tpcs.size(); }
    unsigned blocks_per_sm(unsigned threads, std::size_t shared_bytes) const;
    /// How many of the launch's blocks fit at once; a cluster is within a GPC.
    std::uint64_t room(const Launch &launch, const Mask &disabled) const;
    /// The SMs that the launch gets, ascending; or `why` it would never end.
    std::vector<unsigned> run(const Launch &launch, const Mask &disabled, std::string &why) const;

  private:
    bool usable(const Tpc &tpc, const Mask &disabled) const;
};

/// Those of STAND_IN_GPUS, e.g. `h100,h200`. Throws std::invalid_argument.
std::vector<Gpu> all_gpus();
/// Of them, those that CUDA_VISIBLE_DEVICES leaves.
std::vector<Gpu> visible_gpus();

} // namespace stand_in
