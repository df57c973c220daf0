// SPDX-License-Identifier: MIT OR GPL-2.0
// The parts of CUDA's driver API for the stand-in and its tests. Names, layouts and numbers are
// from cuda.h of CUDA 13.0.
#pragma once

#include <cstddef>
#include <cstdint>

// Handles point to types of the driver, which programs do not see.
struct CUctx;
struct CUmod;
struct CUfunc;
struct CUkern;
struct CUstream_;
struct CUevent_;
struct CUgraph_;
struct CUgraphNode_;
struct CUgraphExec_;

namespace cuda {

using Result = int; // CUresult
constexpr Result success = 0, invalid_value = 1, not_initialized = 3, no_device = 100,
                 invalid_device = 101, invalid_image = 200, invalid_context = 201,
                 already_acquired = 210, invalid_handle = 400, not_found = 500, not_ready = 600,
                 not_supported = 801, capture_unsupported = 900, capture_implicit = 906,
                 too_large = 720, update_failure = 910, invalid_cluster_size = 912;

using Device = int;
using DevicePointer = std::uint64_t;
using Context = CUctx *;
using Module = CUmod *;
using Function = CUfunc *;
using Kernel = CUkern *;
using Stream = CUstream_ *;
using Event = CUevent_ *;
using Graph = CUgraph_ *;
using Node = CUgraphNode_ *;
using Exec = CUgraphExec_ *;

struct Uuid {
    unsigned char bytes[16];
};

enum DeviceAttribute {
    multiprocessors = 16,
    threads_per_multiprocessor = 39,
    major_capability = 75,
    minor_capability = 76,
    cooperative_launch = 95,
};

union AttributeValue {
    char pad[64];
    int cooperative;
    int priority;
    struct {
        unsigned x, y, z;
    } cluster;
};

struct Attribute {
    enum Id : int { is_cooperative = 2, cluster_dimension = 4, has_priority = 8 } id;
    char pad[4];
    AttributeValue value;
};

struct LaunchConfig {
    unsigned grid[3], block[3], shared_bytes;
    Stream stream;
    Attribute *attributes;
    unsigned attribute_count;
};

struct KernelNodeParams { // _v2
    Function function;
    unsigned grid[3], block[3], shared_bytes;
    void **params, **extra;
    Kernel kernel;
    Context context;
};

enum NodeType { kernel_node = 0, child_graph_node = 4, empty_node = 5 };

struct InstantiateParams {
    std::uint64_t flags;
    Stream upload;
    Node error_node;
    int result;
};

struct UpdateResult {
    int result; // 0, or 2: another topology
    Node error_node, error_from;
};

/// The id of the table of callbacks for cuGetExportTable(). The table is not documented, and was
/// found on driver 580.159.04.
constexpr Uuid tools_table = {{0x2c, 0x8e, 0x0a, 0xd8, 0x07, 0x10, 0xab, 0x4e, 0x90, 0xdd, 0x54,
                               0x71, 0x9f, 0xe5, 0xf7, 0x4b}};
using Callback = void (*)(void *user, int domain, int id, const void *params);
using Subscribe = int (*)(void **handle, Callback callback, void *user);
using Enable = int (*)(int on, void *handle, int domain, int id);
constexpr int subscribe_entry = 3, enable_entry = 6;
constexpr int api_domain = 6, launch_domain = 0xb, launch_id = 1;

} // namespace cuda
