// SPDX-License-Identifier: MIT OR GPL-2.0
// The GPU of the stand-in: the places of its TPCs, and the TPCs that a launch may use.
#pragma once

#include "cuda.hpp"
#include "descriptor.hpp"

#include <string>
#include <vector>

namespace stand_in {

struct Tpc {
    unsigned bit; ///< its bit in the mask
    unsigned gpc; ///< virtual number of the GPC, in which clusters have to fit
    unsigned logical_gpc;
    unsigned first_sm; ///< the first of its two SMs
    bool deaf = false; ///< the TPC ignores its bit
};

/// The parts of a launch that decide where it can run.
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
    std::size_t most_disabled; ///< the GPU ignores masks with more bits

    unsigned sms() const { return 2 * tpcs.size(); }
    unsigned blocks_per_sm(unsigned threads, std::size_t shared_bytes) const;
    /// Returns how many of the launch's blocks fit at once. A cluster has to fit into a GPC.
    std::uint64_t room(const Launch &launch, const Mask &disabled) const;
    /// Returns the SMs of the launch, ascending. If it would never end, sets `why`.
    std::vector<unsigned> run(const Launch &launch, const Mask &disabled, std::string &why) const;

  private:
    bool usable(const Tpc &tpc, const Mask &disabled) const;
};

/// Returns the GPUs of STAND_IN_GPUS, such as `h100,h200`. Throws std::invalid_argument.
std::vector<Gpu> all_gpus();
/// Returns the GPUs that CUDA_VISIBLE_DEVICES leaves.
std::vector<Gpu> visible_gpus();

} // namespace stand_in
