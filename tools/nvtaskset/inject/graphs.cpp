// SPDX-License-Identifier: MIT OR GPL-2.0
#include "graphs.hpp"

#include <cstdlib>
#include <mutex>
#include <optional>

namespace nvtaskset {
namespace {

using cuda::Handle;

/// The nodes of a graph.
class Nodes {
  public:
    Nodes(const cuda::Library &cuda, Handle graph) {
        if (cuda.call("cuGraphGetNodes", graph, static_cast<Handle *>(nullptr), &count_))
            return;
        nodes_ = static_cast<Handle *>(std::calloc(count_ + 1, sizeof(Handle)));
        known_ = nodes_ && !cuda.call("cuGraphGetNodes", graph, nodes_, &count_);
    }
    ~Nodes() { std::free(nodes_); }
    Nodes(const Nodes &) = delete;
    Nodes &operator=(const Nodes &) = delete;

    /// Returns false if CUDA does not return the nodes, or if there is no memory.
    bool known() const { return known_; }
    const Handle *begin() const { return nodes_; }
    const Handle *end() const { return known_ ? nodes_ + count_ : nodes_; }

  private:
    std::size_t count_ = 0;
    Handle *nodes_ = nullptr;
    bool known_ = false;
};

std::optional<int> type_of(const cuda::Library &cuda, Handle node) {
    int type = 0;
    return cuda.call("cuGraphNodeGetType", node, &type) ? std::nullopt : std::optional(type);
}

Handle graph_of(const cuda::Library &cuda, Handle node) {
    Handle graph = nullptr;
    return cuda.call("cuGraphChildGraphNodeGetGraph", node, &graph) ? nullptr : graph;
}

/// Returns an attribute of a kernel node, or zeros if the node does not have it.
cuda::LaunchAttribute attribute_of(const cuda::Library &cuda, Handle node, unsigned id) {
    cuda::LaunchAttribute attribute{};
    if (cuda.call("cuGraphKernelNodeGetAttribute", node, static_cast<int>(id),
                  static_cast<void *>(attribute.bytes)))
        return {};
    return attribute;
}

int update_exec(const cuda::Library &cuda, Handle exec, Handle graph) {
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

void Graphs::uncount(Graph &graph) {
    forget(graph);
    set_old(graph, false);
    if (graph.counts)
        graph.counts->graphs--;
}

void Graphs::take_copy(Graph &known, Handle graph) {
    forget(known);
    known.checked = false;
    // A cooperative node fits on no room, so that this finds out whether there is any.
    const auto any = too_large(graph, {});
    known.cooperative = any.value_or(true);
    if (!any || cuda_.call("cuGraphClone", &known.copy, graph))
        known.copy = nullptr;
}

void Graphs::add(Handle exec, Handle graph, Handle context) {
    const std::lock_guard lock(mutex_);
    // An earlier graph with this handle has ended unseen.
    if (Graph *const before = graphs_.find(exec)) {
        uncount(*before);
        graphs_.remove(exec);
    }
    Graph *const known = graphs_.add(exec);
    if (!known) {
        lost_ = true;
        return;
    }
    known->context = context;
    take_copy(*known, graph);
}

void Graphs::update(Handle exec, Handle graph) {
    const std::lock_guard lock(mutex_);
    if (Graph *const known = graphs_.add(exec))
        take_copy(*known, graph);
    else
        lost_ = true;
}

void Graphs::remove(Handle exec) {
    const std::lock_guard lock(mutex_);
    if (Graph *const found = graphs_.find(exec)) {
        uncount(*found);
        graphs_.remove(exec);
    }
}

void Graphs::end_context(Handle context) {
    const std::lock_guard lock(mutex_);
    graphs_.remove_if([&](Graph &graph) {
        if (graph.context == context)
            uncount(graph);
        return graph.context == context;
    });
}

Handle Graphs::context_of(Handle exec) {
    const std::lock_guard lock(mutex_);
    const Graph *const found = graphs_.find(exec);
    return found ? found->context : nullptr;
}

void Graphs::changed(Handle exec) {
    const std::lock_guard lock(mutex_);
    Graph *const found = graphs_.find(exec);
    if (!found)
        return;
    forget(*found);
    found->checked = false;
}

std::optional<bool> Graphs::too_large(Handle graph, Room room) const {
    const Nodes nodes(cuda_, graph);
    for (const Handle node : nodes) {
        const auto type = type_of(cuda_, node);
        if (type == cuda::node_child_graph) {
            const Handle child = graph_of(cuda_, node);
            const auto large = child ? too_large(child, room) : std::nullopt;
            if (large != false)
                return large;
        }
        if (type != cuda::node_kernel ||
            !attribute_of(cuda_, node, cuda::launch_cooperative).words[0])
            continue;
        cuda::KernelNode kernel{};
        if (cuda_.call("cuGraphKernelNodeGetParams_v2", node, &kernel))
            return true;
        const auto cluster = attribute_of(cuda_, node, cuda::launch_cluster);
        if (!fits(cuda_, kernel.function ? kernel.function : kernel.kernel, kernel.grid,
                  kernel.block, kernel.shared_bytes, cuda::blocks_of(cluster), room))
            return true;
    }
    return nodes.known() ? std::optional(false) : std::nullopt;
}

bool Graphs::alter(Handle graph) const {
    const Nodes nodes(cuda_, graph);
    for (const Handle node : nodes) {
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
        // The copy has one cluster less, because a cooperative kernel may fill the GPU; or one
        // more, if there is only one.
        const unsigned step = width ? width : 1;
        if (kernel.grid[0] > step)
            kernel.grid[0] -= step;
        else
            kernel.grid[0] += step;
        if (cuda_.call("cuGraphKernelNodeSetParams_v2", node,
                       static_cast<const cuda::KernelNode *>(&kernel)))
            return false;
    }
    return nodes.known();
}

int Graphs::bring_along(Handle exec, const Graph &graph, bool &done) const {
    done = false;
    Handle other = nullptr;
    if (cuda_.call("cuGraphClone", &other, graph.copy))
        return cuda::success;
    int result = cuda::success;
    if (alter(other)) {
        const bool altered = update_exec(cuda_, exec, other) == cuda::success;
        // The graph is restored even if the first update has failed.
        const bool restored = update_exec(cuda_, exec, graph.copy) == cuda::success;
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
    Graph *const found = graphs_.find(exec);
    if (!found) // the graph was made before the library was loaded, or there was no memory for it
        return {.kept = !lost_};
    Graph &graph = *found;
    if (!graph.counts && counts) {
        graph.counts = counts;
        counts->graphs++;
    }
    const bool same = graph.generation == generation;
    if (same && graph.checked)
        return {.kept = graph.kept};
    // A graph without descriptors gets the mask of the present partition when they are built.
    const bool fresh = same || graph.generation == 0;
    if (room && graph.copy) {
        const auto large = too_large(graph.copy, *room);
        if (large == true)
            return {.result = cuda::cooperative_launch_too_large};
        if (!large)
            forget(graph);
    }
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
