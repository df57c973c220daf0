// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The executable graphs of a process. CUDA builds the descriptors of a graph at its first
/// launch, and builds them again only for nodes whose parameters have changed (measured, H100). So
/// to bring a graph to another partition, the library updates it from a copy that is a little
/// different, and then from a copy that is the same.
#pragma once

#include <optional>

#include "cooperative.hpp"
#include "lib/partition/cuda.hpp"
#include "lib/partition/state.hpp"
#include "table.hpp"

namespace nvtaskset {

/// The executable graphs. Several threads may use it at the same time.
class Graphs {
  public:
    explicit Graphs(const cuda::Library &cuda) : cuda_(cuda) {}

    /// Adds @p exec, which the program has made of @p graph in @p context.
    void add(cuda::Handle exec, cuda::Handle graph, cuda::Handle context);
    /// Notes that the program has updated @p exec from @p graph.
    void update(cuda::Handle exec, cuda::Handle graph);
    void remove(cuda::Handle exec);
    /// Notes that the program has changed @p exec in a way that a copy cannot follow.
    void changed(cuda::Handle exec);
    /// Removes the graphs of a context, which end with it.
    void end_context(cuda::Handle context);
    /// Returns the context in which @p exec was made, or nullptr if it is unknown.
    cuda::Handle context_of(cuda::Handle exec);

    /// The result of prepare().
    struct Prepared {
        int result = cuda::success; ///< the error with which the launch has to fail
        bool kept = true;           ///< false: the graph might never end in the partition
    };
    /// Prepares @p exec for a launch on a GPU with this @p generation of partitions.
    /// @param counts nullptr: the GPU has no partition
    /// @param room nullptr: the whole GPU
    Prepared prepare(cuda::Handle exec, std::uint32_t generation, const Room *room, Counts *counts);

  private:
    struct Graph {
        cuda::Handle copy = nullptr;  ///< nullptr: there is no copy
        std::uint32_t generation = 0; ///< of its descriptors; 0: it has no descriptors yet
        bool checked = false;         ///< the graph was checked to fit since its last change
        bool kept = true;             ///< Prepared::kept of that check
        bool cooperative = false;     ///< the graph has a cooperative node, or may have one
        bool old = false;             ///< the graph is counted in Counts::old_graphs
        Counts *counts = nullptr;     ///< the counts that count the graph
        cuda::Handle context = nullptr;
    };

    void forget(Graph &graph);
    void take_copy(Graph &known, cuda::Handle graph);
    /// Takes a graph out of the counts, before it is removed.
    void uncount(Graph &graph);
    void set_old(Graph &graph, bool old);
    /// Returns true if a cooperative node of the graph has more blocks than fit. Returns nullopt if
    /// that is unknown.
    [[nodiscard]] std::optional<bool> too_large(cuda::Handle graph, Room room) const;
    /// Changes each kernel node of @p graph. Returns false if a node cannot be changed.
    bool alter(cuda::Handle graph) const;
    int bring_along(cuda::Handle exec, const Graph &graph, bool &done) const;

    const cuda::Library &cuda_;
    Mutex mutex_;
    Table<Graph> graphs_;
    bool lost_ = false; ///< there was no memory for some graph
};

} // namespace nvtaskset
