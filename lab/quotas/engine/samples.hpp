// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Counts the idle warps of an epoch: warps that were ready and not issued, on average over
 * samples (Section 3.6).
 */
#ifndef NVDEBUG_LAB_QUOTAS_ENGINE_SAMPLES_HPP
#define NVDEBUG_LAB_QUOTAS_ENGINE_SAMPLES_HPP

#include "lab/quotas/machine/machine.hpp"

namespace engine {

class Samples {
  public:
    Samples(std::size_t sms, std::size_t kernels)
        : open_(sms, kernels), open_times_(sms, kernels), all_(sms, kernels), sms_(sms),
          kernels_(kernels) {}

    /** Adds a sample. @param has_quota the kernel's quota let it issue; without quota, its warps
     * did not wait for a full pipeline */
    void add(std::size_t sm, std::size_t kernel, int idle, bool has_quota) {
        all_(sm, kernel) += idle;
        if (!has_quota)
            return;
        open_(sm, kernel) += idle;
        open_times_(sm, kernel)++;
    }
    void end_sample() { times_++; }

    /** Returns the idle warps as whole blocks of @p warps each; 0 without samples. Only samples
     * with quota count here, and all samples in blocks_of_all(). */
    int blocks(std::size_t sm, std::size_t kernel, int warps) const {
        return whole(open_(sm, kernel), open_times_(sm, kernel) * warps);
    }
    int blocks_of_all(std::size_t sm, std::size_t kernel, int warps) const {
        return whole(all_(sm, kernel), times_ * warps);
    }

    void clear() { *this = Samples(sms_, kernels_); }

  private:
    static int whole(std::int64_t sum, std::int64_t of) {
        return of ? static_cast<int>(sum / of) : 0;
    }

    qos::Table open_, open_times_, all_;
    std::size_t sms_, kernels_;
    std::int64_t times_ = 0;
};

} // namespace engine

#endif
