// SPDX-License-Identifier: MIT OR GPL-2.0
// Everything that can be read of a tree, in C++ and in C.
#ifndef NVDEBUG_TESTS_FUZZ_LIB_READ_ALL_HPP
#define NVDEBUG_TESTS_FUZZ_LIB_READ_ALL_HPP

#include "nvdebug/nvdebug.h"
#include "nvdebug/nvdebug.hpp"

#include "answers.hpp"

#include <cstring>

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
    // Nothing can be asked of a capture.
    FUZZ_REQUIRE(!fine(gpu.translate("0x1000 0")));
    FUZZ_REQUIRE(!fine(gpu.perform(nvdebug::preempt_runlists(std::array{0U}))));
}

inline void read_all(const nvdebug::Tree &tree) {
    const auto all = nvdebug::gpus(tree);
    if (!fine(all))
        return;
    for (const nvdebug::Gpu &gpu : *all)
        read_gpu(gpu);
}

/** The C interface's part of what can fail. */
inline bool done(nvd_error *error) {
    if (!error)
        return true;
    FUZZ_REQUIRE(nvd_error_code(error) <= NVD_MALFORMED && nvd_error_errno(error) >= 0);
    FUZZ_REQUIRE(*nvd_error_sentence(error) && nvd_error_path(error));
    nvd_error_destroy(error);
    return false;
}

template <std::size_t N>
void terminated(const char (&text)[N]) {
    FUZZ_REQUIRE(std::memchr(text, 0, N));
}

inline void read_runlist_in_c(const nvd_gpu *gpu, std::uint32_t id) {
    nvd_runlist *list = nullptr;
    if (!done(nvd_runlist_read(gpu, id, &list)))
        return;
    nvd_runlist_state state{};
    state.size = sizeof(state);
    FUZZ_REQUIRE(done(nvd_runlist_get(list, &state)));
    const std::size_t tsgs = nvd_runlist_tsg_count(list);
    for (std::size_t n = 0; n <= tsgs; n++) {
        nvd_tsg tsg{};
        tsg.size = sizeof(tsg);
        FUZZ_REQUIRE(done(nvd_runlist_tsg(list, n, &tsg)) == (n < tsgs));
    }
    const std::size_t channels = nvd_runlist_channel_count(list);
    for (std::size_t n = 0; n <= channels; n++) {
        nvd_channel channel{};
        channel.size = sizeof(channel);
        FUZZ_REQUIRE(done(nvd_runlist_channel(list, n, &channel)) == (n < channels));
        FUZZ_REQUIRE(channel.tsg_entry < static_cast<std::int64_t>(tsgs));
        terminated(channel.status);
        terminated(channel.instance_aperture);
    }
    nvd_runlist_destroy(list);
}

inline void read_engines_in_c(const nvd_gpu *gpu) {
    nvd_engines *engines = nullptr;
    if (!done(nvd_engines_read(gpu, &engines)))
        return;
    const std::size_t count = nvd_engines_count(engines);
    for (std::size_t n = 0; n <= count; n++) {
        nvd_engine engine{};
        engine.size = sizeof(engine);
        FUZZ_REQUIRE(done(nvd_engines_get(engines, n, &engine)) == (n < count));
        terminated(engine.name);
        terminated(engine.type);
        int shared = -1;
        if (done(nvd_engines_share_runlist(engines, engine.name, "GR0", &shared)))
            FUZZ_REQUIRE(shared == 0 || shared == 1);
    }
    nvd_engines_destroy(engines);
}

inline void read_all_in_c(const char *path) {
    nvd_tree *tree = nullptr;
    if (!done(nvd_tree_open(path, &tree)))
        return;
    std::uint32_t indexes[4] = {};
    std::size_t count = 0;
    if (done(nvd_tree_gpus(tree, indexes, std::size(indexes), &count)))
        for (std::size_t n = 0; n < std::min(count, std::size(indexes)); n++) {
            nvd_gpu *gpu = nullptr;
            FUZZ_REQUIRE(done(nvd_gpu_create(tree, indexes[n], &gpu)));
            nvd_identity identity{};
            identity.size = sizeof(identity);
            if (done(nvd_gpu_identity(gpu, &identity))) {
                terminated(identity.chip);
                terminated(identity.driver);
                terminated(identity.pci_id);
            }
            read_engines_in_c(gpu);
            read_runlist_in_c(gpu, 0);
            nvd_lease *lease = nullptr;
            const nvd_target channel{-1, 1};
            FUZZ_REQUIRE(!done(nvd_lease_disable(gpu, &channel, 1, &lease)));
            nvd_gpu_destroy(gpu);
        }
    nvd_tree_destroy(tree);
}

} // namespace fuzz

#endif
