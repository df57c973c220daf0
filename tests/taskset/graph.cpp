// SPDX-License-Identifier: MIT OR GPL-2.0
// Graphs and executable graphs.
#include "callback.hpp"
#include "launch.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

using namespace stand_in;

namespace {

CUgraphNode_ *node_of(cuda::Node node) {
    return driver().graphs.any([&](const CUgraph_ &graph) {
        for (const auto &each : graph.nodes)
            if (each.get() == node)
                return true;
        return false;
    })
               ? node
               : nullptr;
}

/// Makes the steps of an executable graph. They are copies, so that changes of the graph do not
/// affect them.
cuda::Result steps_of(std::vector<CUgraphExec_::Step> &steps, const CUgraph_ &graph) {
    for (const auto &node : graph.nodes) {
        if (node->child)
            if (const auto error = steps_of(steps, *node->child))
                return error;
        const Work &work = node->work;
        // It was not measured at which time the real driver checks this.
        if (work.function)
            if (const auto error = check(*work.function->module->context->gpu, work.launch))
                return error;
        steps.push_back({node.get(), work, node->attributes, std::nullopt, std::nullopt});
    }
    return cuda::success;
}

cuda::Result instantiate(cuda::Exec *exec, cuda::Graph graph) {
    return in_context([&](CUctx &, Lock &) {
        if (!exec || !driver().graphs.has(graph))
            return cuda::invalid_value;
        CUgraphExec_ made;
        if (const auto error = steps_of(made.steps, *graph))
            return error;
        *exec = driver().execs.add(std::move(made));
        return cuda::success;
    });
}

/// Changes a step. If anything differs, its descriptor is built again at the next launch.
void change(CUgraphExec_::Step &step, const Work &work,
            const std::map<int, std::string> &attributes) {
    if (step.work == work && step.attributes == attributes)
        return;
    step.work = work;
    step.attributes = attributes;
    if (step.descriptor)
        step.before = std::exchange(step.descriptor, std::nullopt);
}

cuda::Result update(cuda::Exec exec, cuda::Graph graph, cuda::UpdateResult *result) {
    return in_context([&](CUctx &, Lock &) {
        if (!driver().execs.has(exec) || !driver().graphs.has(graph) || !result)
            return cuda::invalid_value;
        *result = {};
        std::vector<CUgraphExec_::Step> steps;
        if (const auto error = steps_of(steps, *graph)) {
            result->result = 1;
            return error;
        }
        bool same = steps.size() == exec->steps.size();
        for (std::size_t i = 0; same && i < steps.size(); i++)
            same = !steps[i].work.function == !exec->steps[i].work.function;
        if (!same) {
            result->result = 2;
            return cuda::update_failure;
        }
        for (std::size_t i = 0; i < steps.size(); i++)
            change(exec->steps[i], steps[i].work, steps[i].attributes);
        return cuda::success;
    });
}

cuda::Result launch_graph(cuda::Exec exec, cuda::Stream stream) {
    return in_context([&](CUctx &context, Lock &lock) {
        if (!driver().execs.has(exec))
            return cuda::invalid_value;
        if (!has_stream(stream, context))
            return cuda::invalid_handle;
        for (auto &step : exec->steps) {
            if (!step.work.function)
                continue;
            if (!step.descriptor)
                step.descriptor = descriptor_for(step.work, lock, step.before);
            run(step.work, *step.descriptor, "graph");
        }
        return cuda::success;
    });
}

cuda::Result work_of(Work &work, const cuda::KernelNodeParams &params,
                     const std::map<int, std::string> &attributes) {
    Launch launch;
    for (unsigned i = 0; i < 3; i++) {
        launch.grid[i] = params.grid[i];
        launch.block[i] = params.block[i];
    }
    launch.shared_bytes = params.shared_bytes;
    for (const auto &[attribute, bytes] : attributes) {
        cuda::AttributeValue value;
        std::memcpy(&value, bytes.data(), sizeof(value));
        apply(launch, attribute, value);
    }
    const CUmod *const module = module_of(params.function);
    if (!module)
        return cuda::invalid_value;
    return work_of(work, *module->context, params.function, launch, params.params);
}

cuda::Node add_node(CUgraph_ &graph, Work work) {
    graph.nodes.push_back(
        std::make_unique<CUgraphNode_>(CUgraphNode_{nullptr, std::move(work), nullptr, {}, {}}));
    return graph.nodes.back().get();
}

CUgraph_ *clone_of(const CUgraph_ &graph) {
    CUgraph_ *const clone = driver().graphs.add({});
    for (const auto &node : graph.nodes) {
        CUgraphNode_ &added = *add_node(*clone, node->work);
        added.original = node.get();
        added.attributes = node->attributes;
        if (node->child)
            added.child = clone_of(*node->child);
    }
    return clone;
}

void end_graph(CUgraph_ *graph) {
    for (const auto &node : graph->nodes)
        if (node->child)
            end_graph(node->child);
    driver().graphs.remove(graph);
}

template <typename Body>
cuda::Result of_kernel_node(cuda::Node node, const void *argument, Body body) {
    return locked([&](Lock &) {
        CUgraphNode_ *const found = node_of(node);
        return found && found->work.function && argument ? body(*found) : cuda::invalid_value;
    });
}
} // namespace

cuda::Result cuGraphCreate(cuda::Graph *graph, unsigned flags) {
    return locked([&](Lock &) {
        if (!graph || flags)
            return cuda::invalid_value;
        *graph = driver().graphs.add({});
        return cuda::success;
    });
}

cuda::Result cuGraphDestroy(cuda::Graph graph) {
    return locked([&](Lock &) {
        if (!driver().graphs.has(graph))
            return cuda::invalid_value;
        end_graph(graph);
        return cuda::success;
    });
}

cuda::Result cuGraphClone(cuda::Graph *clone, cuda::Graph graph) {
    return locked([&](Lock &) {
        if (!clone || !driver().graphs.has(graph))
            return cuda::invalid_value;
        *clone = clone_of(*graph);
        return cuda::success;
    });
}

cuda::Result cuGraphGetNodes(cuda::Graph graph, cuda::Node *nodes, std::size_t *count) {
    return locked([&](Lock &) {
        if (!count || !driver().graphs.has(graph))
            return cuda::invalid_value;
        const std::size_t there = graph->nodes.size();
        // The variable is a number of nodes for which there is no memory.
        if (!nodes && std::getenv("STAND_IN_NODES")) {
            *count = std::stoull(std::getenv("STAND_IN_NODES"));
            return cuda::success;
        }
        for (std::size_t i = 0; nodes && i < *count; i++)
            nodes[i] = i < there ? graph->nodes[i].get() : nullptr;
        *count = nodes ? std::min(*count, there) : there;
        return cuda::success;
    });
}

cuda::Result cuGraphNodeGetType(cuda::Node node, int *type) {
    return locked([&](Lock &) {
        if (!type || !node_of(node))
            return cuda::invalid_value;
        *type = node->child           ? cuda::child_graph_node
                : node->work.function ? cuda::kernel_node
                                      : cuda::empty_node;
        return cuda::success;
    });
}

cuda::Result cuGraphNodeFindInClone(cuda::Node *node, cuda::Node original, cuda::Graph clone) {
    return locked([&](Lock &) {
        if (!node || !driver().graphs.has(clone))
            return cuda::invalid_value;
        for (const auto &each : clone->nodes)
            if (each->original == original) {
                *node = each.get();
                return cuda::success;
            }
        return cuda::invalid_value;
    });
}

cuda::Result cuGraphAddEmptyNode(cuda::Node *node, cuda::Graph graph, const cuda::Node *,
                                 std::size_t) {
    return locked([&](Lock &) {
        if (!node || !driver().graphs.has(graph))
            return cuda::invalid_value;
        *node = add_node(*graph, {});
        return cuda::success;
    });
}

cuda::Result cuGraphAddChildGraphNode(cuda::Node *node, cuda::Graph graph, const cuda::Node *,
                                      std::size_t, cuda::Graph child) {
    return locked([&](Lock &) {
        if (!node || !driver().graphs.has(graph) || !driver().graphs.has(child) || child == graph)
            return cuda::invalid_value;
        *node = add_node(*graph, {});
        (*node)->child = clone_of(*child);
        return cuda::success;
    });
}

cuda::Result cuGraphChildGraphNodeGetGraph(cuda::Node node, cuda::Graph *child) {
    return locked([&](Lock &) {
        if (!child || !node_of(node) || !node->child)
            return cuda::invalid_value;
        *child = node->child;
        return cuda::success;
    });
}

cuda::Result cuGraphAddKernelNode_v2(cuda::Node *node, cuda::Graph graph, const cuda::Node *,
                                     std::size_t, const cuda::KernelNodeParams *params) {
    return locked([&](Lock &) {
        if (!node || !driver().graphs.has(graph) || !params)
            return cuda::invalid_value;
        Work work;
        if (const auto error = work_of(work, *params, {}))
            return error;
        *node = add_node(*graph, std::move(work));
        return cuda::success;
    });
}

cuda::Result cuGraphKernelNodeGetParams_v2(cuda::Node node, cuda::KernelNodeParams *params) {
    return of_kernel_node(node, params, [&](CUgraphNode_ &found) {
        *params = {};
        params->function = found.work.function;
        std::copy_n(found.work.launch.grid.begin(), 3, params->grid);
        std::copy_n(found.work.launch.block.begin(), 3, params->block);
        params->shared_bytes = found.work.launch.shared_bytes;
        found.pointers.clear();
        for (auto &argument : found.work.arguments)
            found.pointers.push_back(argument.data());
        params->params = found.pointers.data();
        params->context = found.work.function->module->context;
        return cuda::success;
    });
}

cuda::Result cuGraphKernelNodeSetParams_v2(cuda::Node node, const cuda::KernelNodeParams *params) {
    return of_kernel_node(node, params, [&](CUgraphNode_ &found) {
        Work work;
        if (const auto error = work_of(work, *params, found.attributes))
            return error;
        found.work = std::move(work);
        return cuda::success;
    });
}

cuda::Result cuGraphKernelNodeGetAttribute(cuda::Node node, int attribute,
                                           cuda::AttributeValue *value) {
    return of_kernel_node(node, value, [&](CUgraphNode_ &found) {
        *value = {};
        const auto set = found.attributes.find(attribute);
        if (set != found.attributes.end())
            std::memcpy(value, set->second.data(), sizeof(*value));
        return cuda::success;
    });
}

cuda::Result cuGraphKernelNodeSetAttribute(cuda::Node node, int attribute,
                                           const cuda::AttributeValue *value) {
    return of_kernel_node(node, value, [&](CUgraphNode_ &found) {
        apply(found.work.launch, attribute, *value);
        found.attributes[attribute].assign(reinterpret_cast<const char *>(value), sizeof(*value));
        return cuda::success;
    });
}

cuda::Result cuGraphInstantiate_v2(cuda::Exec *exec, cuda::Graph graph, cuda::Node *error_node,
                                   char *log, std::size_t bytes) {
    struct {
        cuda::Exec *exec;
        cuda::Graph graph;
        cuda::Node *error_node;
        char *log;
        std::size_t bytes;
    } const arguments{exec, graph, error_node, log, bytes};
    return call(578, "cuGraphInstantiate_v2", current_context, arguments,
                [&] { return instantiate(exec, graph); });
}

cuda::Result cuGraphInstantiateWithFlags(cuda::Exec *exec, cuda::Graph graph,
                                         unsigned long long flags) {
    struct {
        cuda::Exec *exec;
        cuda::Graph graph;
        unsigned long long flags;
    } const arguments{exec, graph, flags};
    return call(643, "cuGraphInstantiateWithFlags", current_context, arguments,
                [&] { return instantiate(exec, graph); });
}

cuda::Result cuGraphInstantiateWithParams(cuda::Exec *exec, cuda::Graph graph,
                                          cuda::InstantiateParams *params) {
    struct {
        cuda::Exec *exec;
        cuda::Graph graph;
        cuda::InstantiateParams *params;
    } const arguments{exec, graph, params};
    return call(656, "cuGraphInstantiateWithParams", current_context, arguments, [&] {
        if (!params)
            return cuda::invalid_value;
        const auto error = instantiate(exec, graph);
        params->error_node = nullptr;
        params->result = error ? 1 : 0;
        return error;
    });
}

cuda::Result cuGraphExecUpdate_v2(cuda::Exec exec, cuda::Graph graph, cuda::UpdateResult *result) {
    struct {
        cuda::Exec exec;
        cuda::Graph graph;
        cuda::UpdateResult *result;
    } const arguments{exec, graph, result};
    return call(696, "cuGraphExecUpdate_v2", current_context, arguments,
                [&] { return update(exec, graph, result); });
}

cuda::Result cuGraphExecKernelNodeSetParams_v2(cuda::Exec exec, cuda::Node node,
                                               const cuda::KernelNodeParams *params) {
    struct {
        cuda::Exec exec;
        cuda::Node node;
        const cuda::KernelNodeParams *params;
    } const arguments{exec, node, params};
    return call(692, "cuGraphExecKernelNodeSetParams_v2", current_context, arguments, [&] {
        return in_context([&](CUctx &, Lock &) {
            if (!driver().execs.has(exec) || !params || !node_of(node))
                return cuda::invalid_value;
            for (auto &step : exec->steps)
                if (step.node == node && step.work.function) {
                    Work work;
                    if (const auto error = work_of(work, *params, step.attributes))
                        return error;
                    change(step, work, step.attributes);
                    return cuda::success;
                }
            return cuda::invalid_value;
        });
    });
}

cuda::Result cuGraphExecDestroy(cuda::Exec exec) {
    return call(516, "cuGraphExecDestroy", current_context, exec, [&] {
        return locked([&](Lock &) {
            return driver().execs.remove(exec) ? cuda::success : cuda::invalid_value;
        });
    });
}

namespace {

cuda::Result launch_graph(int id, const char *name, cuda::Exec exec, cuda::Stream stream) {
    struct {
        cuda::Exec exec;
        cuda::Stream stream;
    } const arguments{exec, stream};
    return call(id, name, current_context, arguments, [&] { return launch_graph(exec, stream); });
}

} // namespace

cuda::Result cuGraphLaunch(cuda::Exec exec, cuda::Stream stream) {
    return launch_graph(514, "cuGraphLaunch", exec, stream);
}

cuda::Result cuGraphLaunch_ptsz(cuda::Exec exec, cuda::Stream stream) {
    return launch_graph(515, "cuGraphLaunch_ptsz", exec, stream);
}
