// SPDX-License-Identifier: MIT OR GPL-2.0
// Reads everything in a tree, and makes each request.
#ifndef NVDEBUG_TESTS_FUZZ_LIB_READ_ALL_HPP
#define NVDEBUG_TESTS_FUZZ_LIB_READ_ALL_HPP

#include "nvdebug/nvdebug.hpp"

#include "answers.hpp"

#include <array>

namespace fuzz {

template <typename T>
bool fine(const nvdebug::Result<T> &result) {
    if (!result)
        sentence(result.error());
    return result.has_value();
}

inline void read_gpu(const nvdebug::Gpu &gpu) {
    const auto engines = gpu.engines();
    const auto copy = gpu.copy_topology();
    fine(copy);
    if (fine(engines)) {
        answers(*engines, copy ? &*copy : nullptr);
        if (copy)
            for (const nvdebug::LogicalCopyEngine &lce : copy->lces)
                nvdebug::pces_of(*copy, lce);
    }
    for (const std::uint32_t id : {0, 1, 3})
        for (const auto detail : {nvdebug::Detail::brief, nvdebug::Detail::full})
            if (const auto list = gpu.runlist(id, detail); fine(list))
                answers(*list);
    if (const auto uses = gpu.address_spaces(); fine(uses))
        answers(*uses);
    fine(gpu.info());
    fine(gpu.engine_states());
    fine(gpu.gpc_topology());
    fine(gpu.work_distributor());
    fine(gpu.scheduling());
    fine(gpu.local_memory_bytes());
    fine(gpu.ptimer_ns());
    // A capture answers no request.
    FUZZ_REQUIRE(!fine(gpu.translate("0x1000 0")));
    FUZZ_REQUIRE(!fine(gpu.perform(nvdebug::preempt_runlists(std::array{0U}))));
    const nvdebug::Target channel{std::nullopt, 1};
    FUZZ_REQUIRE(!fine(gpu.lease(nvdebug::disable_channels({&channel, 1}))));
}

inline void read_all(const nvdebug::Tree &tree) {
    const auto all = nvdebug::gpus(tree);
    if (!fine(all))
        return;
    for (const nvdebug::Gpu &gpu : *all)
        read_gpu(gpu);
}

} // namespace fuzz

#endif
