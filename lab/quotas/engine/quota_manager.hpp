// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file A manager for quotas: the counters of the quota machine decide which kernel may issue, and
 * blocks are adjusted between epochs.
 */
#ifndef NVDEBUG_LAB_QUOTAS_ENGINE_QUOTA_MANAGER_HPP
#define NVDEBUG_LAB_QUOTAS_ENGINE_QUOTA_MANAGER_HPP

#include "manager.hpp"

namespace engine {

class QuotaManager : public Manager {
  public:
    explicit QuotaManager(const Scenario &scenario);

    qos::Machine *machine() override { return &machine_; }
    void begin_epoch(Gpu &gpu) override;
    void sample(const Gpu &gpu) override;
    std::int64_t swaps() const override { return swaps_; }
    std::vector<qos::Epoch> epochs() override;

  private:
    void adjust_blocks(Gpu &gpu);
    std::vector<Tenant> tenants(const Gpu &gpu, std::size_t sm) const;

    const Scenario &scenario_;
    qos::Machine machine_;
    qos::Table start_, allotted_;
    Samples samples_;
    std::vector<Speed> speeds_;
    std::vector<qos::Epoch> epochs_;
    std::int64_t adjusted_ = 0; ///< the cycle of the last adjustment
    std::int64_t swaps_ = 0;
};

} // namespace engine

#endif
