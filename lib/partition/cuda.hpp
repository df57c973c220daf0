// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The parts of CUDA's driver API that nvtaskset uses. Functions are looked up at run time,
/// so that nothing of CUDA is needed to build. Source of names, arguments and numbers: NVIDIA's
/// CUDA Driver API reference and cuda.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <dlfcn.h>

namespace nvtaskset::cuda {

using Handle = void *;
using Address = unsigned long long;

enum Result : int {
    success = 0,
    not_ready = 600,
    cooperative_launch_too_large = 720,
    graph_exec_update_failure = 910,
};

// CUdevice_attribute, CUfunction_attribute, CUlaunchAttributeID, CUgraphNodeType
constexpr int sm_count = 16, major_capability = 75;
constexpr unsigned launch_cluster = 4, launch_cooperative = 2;
constexpr int node_kernel = 0, node_child_graph = 4;
// CUstreamCaptureStatus, CUstreamCaptureMode, CUevent_flags
constexpr int capture_none = 0, capture_relaxed = 2;
constexpr unsigned event_without_time = 2;

/// CU_STREAM_PER_THREAD
inline const Handle stream_per_thread = reinterpret_cast<Handle>(std::uintptr_t{2});

/// CUlaunchAttribute
struct LaunchAttribute {
    std::uint32_t id, pad;
    union {
        char bytes[64];
        std::uint32_t words[16];
    };
};
static_assert(sizeof(LaunchAttribute) == 72);

/// Returns the blocks of a cluster by an attribute launch_cluster, or 0 if it is not set.
constexpr std::uint64_t blocks_of(const LaunchAttribute &cluster) {
    return std::uint64_t{cluster.words[0]} * cluster.words[1] * cluster.words[2];
}

/// CUlaunchConfig
struct LaunchConfig {
    unsigned grid[3], block[3], shared_bytes;
    Handle stream;
    const LaunchAttribute *attributes;
    unsigned attribute_count;
};
static_assert(offsetof(LaunchConfig, stream) == 32);

/// The second version of CUDA_KERNEL_NODE_PARAMS.
struct KernelNode {
    Handle function;
    unsigned grid[3], block[3], shared_bytes;
    void **arguments, **extra;
    Handle kernel, context;
};
static_assert(sizeof(KernelNode) == 72);

/// CUgraphExecUpdateResultInfo
struct UpdateResult {
    int result;
    Handle node, from;
};

class Library {
  public:
    Library() : library_(dlopen("libcuda.so.1", RTLD_NOW)) {}
    bool loaded() const { return library_; }

    /// Returns a function of CUDA, or nullptr if this CUDA does not have it.
    template <typename... Arguments>
    auto find(const char *name) const {
        return reinterpret_cast<int (*)(Arguments...)>(library_ ? dlsym(library_, name) : nullptr);
    }

    /// Calls a function of CUDA. Returns its result, or CUDA_ERROR_NOT_FOUND if there is no such
    /// function.
    template <typename... Arguments>
    int call(const char *name, Arguments... arguments) const {
        constexpr int not_found = 500;
        const auto function = find<Arguments...>(name);
        return function ? function(arguments...) : not_found;
    }

  private:
    void *library_; // never closed, because the program may use it, too
};

} // namespace nvtaskset::cuda
