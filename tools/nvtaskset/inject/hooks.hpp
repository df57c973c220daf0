// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file CUDA's callbacks for tools, as measured on an H100 and an H200 with driver 580.159.04
/// (CUDA 13.0). Source of the functions' numbers: cupti_driver_cbid.h of NVIDIA's CUDA toolkit.
#pragma once

#include <cstdint>

#include "lib/partition/cuda.hpp"

namespace nvtaskset::hooks {

/// The id of the table for cuGetExportTable().
constexpr std::uint8_t table_id[16] = {0x2c, 0x8e, 0x0a, 0xd8, 0x07, 0x10, 0xab, 0x4e,
                                       0x90, 0xdd, 0x54, 0x71, 0x9f, 0xe5, 0xf7, 0x4b};

using Callback = void (*)(void *user, int domain, int id, const void *params);

/// The entries that the library uses. The first word of the table is its size in bytes.
struct Table {
    std::uint64_t bytes, other[2];
    int (*subscribe)(void **subscriber, Callback callback, void *user);
    std::uint64_t more[2];
    int (*enable)(int on, void *subscriber, int domain, int id);
};

/// The error of subscribe() if another library of the process has subscribed.
constexpr int already_subscribed = 210;

constexpr int domain_api = 6, domain_launch = 0xb;
/// The callback before a launch's descriptor goes to the GPU.
constexpr int launch = 1;

struct Launch {
    std::uint64_t bytes;  ///< only the lower half is the size
    cuda::Handle context; ///< the context of the launch, which need not be the current one
    void *other[2];
    std::uint8_t *descriptor;
};

/// The callback before and after a call of the API.
struct Api {
    std::uint32_t bytes, pad;
    std::uint64_t other[4];
    int *result;
    const char *name;
    const void *arguments; ///< a struct of the arguments, in their order
    cuda::Handle context;
    std::uint64_t more;
    std::uint32_t id, after; ///< after is 1 when the call returns
    int *skip;               ///< if set to 1 before the call, CUDA returns *result without the call
};
static_assert(sizeof(Api) == 0x60);

enum Id : int {
    device_get_attribute = 9,
    module_unload = 22,
    launch_kernel = 307,
    launch_kernel_ptsz = 442,
    ctx_destroy = 322, // cuCtxDestroy_v2; not seen on hardware
    primary_release = 387,
    primary_release_v2 = 544,
    primary_reset = 389,
    primary_reset_v2 = 545,
    launch_cooperative = 477,
    launch_cooperative_ptsz = 478,
    graph_instantiate = 513,
    graph_launch = 514,
    graph_launch_ptsz = 515,
    graph_exec_destroy = 516,
    graph_exec_update = 561,
    graph_instantiate_v2 = 578,
    graph_instantiate_with_flags = 643,
    launch_ex = 652,
    launch_ex_ptsz = 653,
    graph_instantiate_with_params = 656,
    graph_instantiate_with_params_ptsz = 657,
    graph_upload = 580,
    graph_upload_ptsz = 581,
    graph_exec_update_v2 = 696,
    library_unload = 680,
};

// The structs below have the arguments of functions as CUDA lays them out: in order, each aligned.
struct KernelArguments {
    cuda::Handle function;
    unsigned grid[3], block[3], shared_bytes;
    cuda::Handle stream;
};
struct ExArguments {
    const cuda::LaunchConfig *config;
    cuda::Handle function;
};
struct GraphLaunchArguments {
    cuda::Handle exec, stream;
};
struct InstantiateArguments {
    cuda::Handle *exec, graph;
};
struct UpdateArguments {
    cuda::Handle exec, graph;
};
struct AttributeArguments {
    int *value, attribute, device;
};

/// Functions that change one node of an executable graph, their first argument.
constexpr int graph_exec_changes[] = {538, 562, 563, 564, 586, 595, 596,
                                      624, 625, 650, 672, 692, 714};

/// Functions that wait for work or ask about it, so that launches may have ended when they return:
/// cuCtxSynchronize (and _v2), cuEventQuery, cuEventSynchronize, cuStreamQuery and
/// cuStreamSynchronize (and _ptsz), cuMemcpyDtoH_v2 (and _ptds), cuMemcpy (and _ptds).
constexpr int waits[] = {17, 800, 120, 121, 125, 439, 126, 440, 278, 398, 305, 408};

/// Functions that take a device and may end its primary context.
constexpr int primary_ends[] = {primary_release, primary_release_v2, primary_reset,
                                primary_reset_v2};

} // namespace nvtaskset::hooks
