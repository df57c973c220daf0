// SPDX-License-Identifier: MIT OR GPL-2.0
#include "benchmarks.hpp"

#include <algorithm>

namespace engine {
namespace {

/** Builds the body of a warp, part by part. */
class Body {
  public:
    /** Adds @p count instructions in groups of @p together. The instructions of a group do not
     * depend on each other, and the next group waits @p wait cycles for them. */
    Body &compute(int count, int together, int wait, int lanes = lanes_of_warp) {
        for (int n = 1; n <= count; n++)
            steps_.push_back({.lanes = lanes, .wait = n % together ? 1 : wait});
        return *this;
    }
    Body &read(int lines, int far, int lanes = lanes_of_warp) {
        steps_.push_back({.lanes = lanes, .lines = lines, .far = far});
        return *this;
    }
    Body &write(int lines, int lanes = lanes_of_warp) {
        steps_.push_back({.lanes = lanes, .lines = lines, .posted = true});
        return *this;
    }
    Body &barrier() {
        steps_.push_back({.wait = 4, .barrier = true});
        return *this;
    }
    operator std::vector<Step>() const { return steps_; }

  private:
    std::vector<Step> steps_;
};

constexpr Need need(int threads, int registers_of_thread, int shared_bytes) {
    return {.threads = threads,
            .registers = threads * registers_of_thread,
            .shared_bytes = shared_bytes};
}

const std::vector<Kernel> &all() {
    static const std::vector<Kernel> kernels = {
        // Compute with cut-offs: some lanes idle; little memory.
        {.name = "cutcp",
         .need = need(128, 25, 4096),
         .blocks = 2000,
         .body = Body().read(1, 64).barrier().compute(32, 2, 8).compute(16, 2, 10, 20),
         .turns = 8,
         .spread = 20},
        // Launches of few blocks and few instructions each, with gaps between them.
        {.name = "histo",
         .need = need(256, 20, 8192),
         .blocks = 96,
         .body = Body().read(2, 160).compute(8, 2, 8).write(2, 20).compute(6, 1, 10, 20),
         .turns = 4,
         .spread = 10,
         .gap = 400},
        // Streams many lines for each thread, which has many registers.
        {.name = "lbm",
         .need = need(128, 72, 0),
         .blocks = 3000,
         .body = Body().read(4, 240).compute(14, 3, 6).read(3, 240).compute(14, 3, 6).write(6),
         .turns = 4,
         .spread = 5},
        // Divergent, with reads here and there, and work that differs much between warps.
        {.name = "mri-gridding",
         .need = need(64, 40, 2048),
         .blocks = 1500,
         .body = Body().read(1, 96, 24).compute(20, 2, 9, 14).compute(8, 2, 6).write(1, 14),
         .turns = 10,
         .spread = 60,
         .gap = 200},
        // Trigonometry from registers and constants.
        {.name = "mri-q",
         .need = need(256, 21, 0),
         .blocks = 2000,
         .body = Body().compute(24, 4, 6).compute(8, 2, 16).compute(16, 4, 6),
         .turns = 10,
         .spread = 5},
        // Small blocks that read and write more than they compute.
        {.name = "sad",
         .need = need(64, 32, 2048),
         .blocks = 4000,
         .body = Body().read(1, 200).compute(18, 3, 6).write(1),
         .turns = 8,
         .spread = 10},
        // Tiles in shared memory, barriers, many independent instructions.
        {.name = "sgemm",
         .need = need(128, 50, 1024),
         .blocks = 2500,
         .body = Body().read(2, 24).barrier().compute(48, 4, 6).barrier(),
         .turns = 8,
         .spread = 0},
        // Sparse rows: part of the lanes, many lines for each instruction.
        {.name = "spmv",
         .need = need(128, 18, 0),
         .blocks = 3000,
         .body = Body().read(3, 110, 22).compute(3, 1, 7, 18).read(2, 60, 18).compute(3, 2, 7, 18),
         .turns = 12,
         .spread = 40},
        // Streams with reuse in the L2 cache.
        {.name = "stencil",
         .need = need(128, 28, 0),
         .blocks = 3000,
         .body = Body().read(3, 110).compute(14, 2, 6).write(1),
         .turns = 10,
         .spread = 0},
        // Divergent searches in shared memory, and barriers.
        {.name = "tpacf",
         .need = need(256, 30, 13312),
         .blocks = 1000,
         .body = Body().read(1, 20).compute(24, 2, 10, 22).compute(12, 1, 12, 9).barrier(),
         .turns = 8,
         .spread = 10},
    };
    return kernels;
}

} // namespace

std::span<const Kernel> benchmarks() {
    return all();
}

const Kernel *benchmark(const std::string &name) {
    const auto found = std::ranges::find(all(), name, &Kernel::name);
    return found == all().end() ? nullptr : &*found;
}

} // namespace engine
