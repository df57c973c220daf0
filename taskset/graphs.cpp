// SPDX-License-Identifier: MIT OR GPL-2.0
#include "graphs.hpp"

#include <optional>
#include <vector>

namespace nvtaskset {
namespace {

using cuda::Handle;

std::vector<Handle> nodes_of(const cuda::Library &cuda, Handle graph) {
    std::size_t count = 0;
    if (cuda.call("cuGraphGetNodes", graph, static_cast<Handle *>(nullptr), &count))
        return {};
    std::vector<Handle> nodes(count);
    if (cuda.call("cuGraphGetNodes", graph, nodes.data(), &count))
        return {};
    nodes.resize(count);
    return nodes;
}

std::optional<int> type_of(const cuda::Library &cuda, Handle node) {
    int type = 0;
    return cuda.call("cuGraphNodeGetType", node, &type) ? std::nullopt : std::optional(type);
}

Handle graph_of(const cuda::Library &cuda, Handle node) {
    Handle graph = nullptr;
    return cuda.call("cuGraphChildGraphNodeGetGraph", node, &graph) ? nullptr : graph;
}

/** Words of an attribute of a kernel node; zeros: it does not have it. */
cuda::LaunchAttribute attribute_of(const cuda::Library &cuda, Handle node, unsigned id) {
    cuda::LaunchAttribute attribute{};
    if (cuda.call("cuGraphKernelNodeGetAttribute", node, static_cast<int>(id),
                  static_cast<void *>(attribute.bytes)))
        return {};
    return attribute;
}

int update(const cuda::Library &cuda, Handle exec, Handle graph) {
    cuda::UpdateResult result{};
    return cuda.call("cuGraphExecUpdate_v2", exec, graph, &result);
}

} // namespace

void Graphs::set_old(Graph &graph, bool old) {
    if (graph.counts && old != graph.old)
        graph.counts->old_graphs += old ? 1U : -1U;
    graph.old = old;
}

void Graphs::forget(Graph &graph) {
    if (graph.copy)
        cuda_.call("cuGraphDestroy", graph.copy);
    graph.copy = nullptr;
}

void Graphs::add(Handle exec, Handle graph) {
    const std::lock_guard lock(mutex_);
    Graph &known = graphs_[exec];
    forget(known);
    known.checked = false;
    // On no SM no cooperative node fits.
    known.cooperative = too_large(graph, {});
    if (cuda_.call("cuGraphClone", &known.copy, graph))
        known.copy = nullptr;
}

void Graphs::remove(Handle exec) {
    const std::lock_guard lock(mutex_);
    const auto found = graphs_.find(exec);
    if (found == graphs_.end())
        return;
    forget(found->second);
    set_old(found->second, false);
    if (found->second.counts)
        found->second.counts->graphs--;
    graphs_.erase(found);
}

void Graphs::changed(Handle exec) {
    const std::lock_guard lock(mutex_);
    const auto found = graphs_.find(exec);
    if (found == graphs_.end())
        return;
    forget(found->second);
    found->second.checked = false;
}

bool Graphs::too_large(Handle graph, Room room) const {
    for (const Handle node : nodes_of(cuda_, graph)) {
        const auto type = type_of(cuda_, node);
        if (type == cuda::node_child_graph) {
            const Handle child = graph_of(cuda_, node);
            if (child && too_large(child, room))
                return true;
        }
        if (type != cuda::node_kernel || !attribute_of(cuda_, node, cuda::launch_cooperative).words[0])
            continue;
        cuda::KernelNode kernel{};
        if (cuda_.call("cuGraphKernelNodeGetParams_v2", node, &kernel))
            return true;
        const auto cluster = attribute_of(cuda_, node, cuda::launch_cluster);
        if (!fits(cuda_, kernel.function ? kernel.function : kernel.kernel, kernel.grid, kernel.block,
                  kernel.shared_bytes, cuda::blocks_of(cluster), room))
            return true;
    }
    return false;
}

bool Graphs::alter(Handle graph) const {
    for (const Handle node : nodes_of(cuda_, graph)) {
        const auto type = type_of(cuda_, node);
        if (!type)
            return false;
        if (*type == cuda::node_child_graph) {
            const Handle child = graph_of(cuda_, node);
            if (!child || !alter(child))
                return false;
        }
        if (*type != cuda::node_kernel)
            continue;
        cuda::KernelNode kernel{};
        if (cuda_.call("cuGraphKernelNodeGetParams_v2", node, &kernel))
            return false;
        const unsigned width = attribute_of(cuda_, node, cuda::launch_cluster).words[0];
        // One cluster more, or fewer: a cooperative one may fill the GPU.
        const unsigned step = width ? width : 1;
        if (kernel.grid[0] > step)
            kernel.grid[0] -= step;
        else
            kernel.grid[0] += step;
        if (cuda_.call("cuGraphKernelNodeSetParams_v2", node, static_cast<const cuda::KernelNode *>(&kernel)))
            return false;
    }
    return true;
}

int Graphs::bring_along(Handle exec, const Graph &graph, bool &done) const {
    done = false;
    Handle other = nullptr;
    if (cuda_.call("cuGraphClone", &other, graph.copy))
        return cuda::success;
    int result = cuda::success;
    if (alter(other)) {
        const bool altered = update(cuda_, exec, other) == cuda::success;
        // Whatever that did, it is to be what it was.
        const bool restored = update(cuda_, exec, graph.copy) == cuda::success;
        done = altered && restored;
        if (!restored && altered)
            result = cuda::graph_exec_update_failure;
    }
    cuda_.call("cuGraphDestroy", other);
    return result;
}

Graphs::Prepared Graphs::prepare(Handle exec, std::uint32_t generation, const Room *room,
                                 Counts *counts) {
    const std::lock_guard lock(mutex_);
    const auto found = graphs_.find(exec);
    if (found == graphs_.end())
        return {}; // made before this library was there
    Graph &graph = found->second;
    if (!graph.counts && counts) {
        graph.counts = counts;
        counts->graphs++;
    }
    const bool same = graph.generation == generation;
    if (same && graph.checked)
        return {.kept = graph.kept};
    // What has no descriptor yet gets the mask that holds.
    const bool fresh = same || graph.generation == 0;
    if (room && graph.copy && too_large(graph.copy, *room))
        return {.result = cuda::cooperative_launch_too_large};
    bool done = fresh;
    if (!fresh && graph.copy)
        if (const int result = bring_along(exec, graph, done))
            return {.result = result};
    graph.kept = graph.copy || !graph.cooperative;
    set_old(graph, !done || !graph.kept);
    graph.generation = generation;
    graph.checked = true;
    return {.kept = graph.kept};
}

} // namespace nvtaskset
