// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file SMs, a memory, and the blocks of kernels, cycle by cycle. */
#ifndef NVDEBUG_LAB_QUOTAS_ENGINE_GPU_HPP
#define NVDEBUG_LAB_QUOTAS_ENGINE_GPU_HPP

#include "grid.hpp"
#include "sm.hpp"

namespace engine {

/** If an epoch begins: evict(), allot(), report_absent(). Then cycle(), and skip(). */
class Gpu {
  public:
    /**
     * @param kernels at most 64
     * @param machine the counters that all that is issued is charged to; null: there are none. Its
     * SMs and slots must be this GPU's
     */
    Gpu(const GpuShape &shape, std::vector<Kernel> kernels, std::uint64_t seed,
        qos::Machine *machine);

    /** Blocks that each kernel may have on each SM from now on. Those that are there and are too
     * many stay: evict(). */
    void allot(const qos::Table &blocks);
    /** On this SM @p count of the kernel's blocks are saved and leave. */
    void evict(std::size_t sm, std::size_t kernel, int count);
    /** Issues, and ends the cycle of the machine. */
    void cycle();
    /** Passes cycles in which nothing happens, if there are any, but not @p end. */
    void skip(std::int64_t end);

    std::int64_t now() const { return now_; }
    std::size_t sms() const { return sms_.size(); }
    std::size_t kernels() const { return stage_.kernels.size(); }
    const Kernel &kernel(std::size_t number) const { return stage_.kernels[number]; }
    const Sm &sm(std::size_t number) const { return sms_[number]; }
    const Memory &memory() const { return stage_.memory; }
    const Grid &grid(std::size_t kernel) const { return grids_[kernel]; }
    const qos::Table &allotted() const { return allotted_; }
    /** Thread instructions of a kernel so far. */
    std::int64_t used(std::size_t kernel) const;
    /** Lets the machine leave out kernels without a block where they have some allotted: an epoch
     * has begun. */
    void report_absent();

  private:
    void fill(std::size_t sm);
    void launch();
    void take_out(std::size_t sm);

    Stage stage_;
    std::vector<Sm> sms_;
    std::vector<Grid> grids_;
    qos::Table allotted_;
    std::int64_t now_ = 0;
};

} // namespace engine

#endif
