// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file A manager that gives whole SMs to each kernel, with hill climbing (spart.hpp). */
#ifndef NVDEBUG_LAB_QUOTAS_ENGINE_SPART_MANAGER_HPP
#define NVDEBUG_LAB_QUOTAS_ENGINE_SPART_MANAGER_HPP

#include "manager.hpp"

namespace engine {

class SpartManager : public Manager {
  public:
    explicit SpartManager(const Scenario &scenario);

    void begin_epoch(Gpu &gpu) override;
    std::int64_t swaps() const override { return swaps_; }

  private:
    void climb_all(Gpu &gpu);
    void hand_over(Gpu &gpu, std::size_t from, std::size_t to);
    qos::Table table() const;

    const Scenario &scenario_;
    std::vector<std::size_t> owner_; ///< by SM
    std::vector<Speed> speeds_;
    std::int64_t begin_ = 0, swaps_ = 0;
};

} // namespace engine

#endif
