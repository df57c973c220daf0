// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file A GPU of SMs, a memory and the blocks of kernels, simulated cycle by cycle. */
#ifndef NVDEBUG_LAB_QUOTAS_ENGINE_GPU_HPP
#define NVDEBUG_LAB_QUOTAS_ENGINE_GPU_HPP

#include "grid.hpp"
#include "sm.hpp"

namespace engine {

/** Call evict(), allot() and report_absent() when an epoch begins. Then call cycle() and skip(). */
class Gpu {
  public:
    /**
     * @param kernels at most 64
     * @param machine has the counters, which each issued instruction is charged to; null: there are
     * none. It must have as many SMs and slots as this GPU
     */
    Gpu(const GpuShape &shape, std::vector<Kernel> kernels, std::uint64_t seed,
        qos::Machine *machine);

    /** Sets the blocks that each kernel may have on each SM from now on. Blocks beyond that number
     * stay until evict(). */
    void allot(const qos::Table &blocks);
    /** Saves @p count blocks of the kernel, which then leave the SM. */
    void evict(std::size_t sm, std::size_t kernel, int count);
    /** Issues the instructions of a cycle, and ends the cycle of the machine. */
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
    /** Returns the thread instructions of a kernel so far. */
    std::int64_t used(std::size_t kernel) const;
    /** Tells the machine, at the begin of an epoch, which kernels have no block on an SM where
     * some are allotted. */
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
