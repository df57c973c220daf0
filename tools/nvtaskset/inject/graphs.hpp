// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The executable graphs of a process. A graph's descriptors are built when it is launched
/// first, and then stay as they are; they are built again for nodes with changed parameters
/// (measured, H100). So a graph is brought to another partition by updating it from a copy of it
/// that is a little different, and from one that is not.
#pragma once

#include <optional>

#include "cooperative.hpp"
#include "lib/partition/cuda.hpp"
#include "lib/partition/state.hpp"
#include "table.hpp"

namespace nvtaskset {

/// May be used by several threads.
class Graphs {
  public:
    explicit Graphs(const cuda::Library &cuda) : cuda_(cuda) {}

    /// @p exec has been made of @p graph, in @p context.
    void add(cuda::Handle exec, cuda::Handle graph, cuda::Handle context);
    /// @p exec is now as @p graph.
    void update(cuda::Handle exec, cuda::Handle graph);
    void remove(cuda::Handle exec);
    /// The program has changed it in a way that no copy follows.
    void changed(cuda::Handle exec);
    /// Its graphs end with it.
    void end_context(cuda::Handle context);
    /// Where @p exec was made; nullptr: not known.
    cuda::Handle context_of(cuda::Handle exec);

    /// Before @p exec is launched on a GPU for which @p generation of partitions holds.
    /// @param counts nullptr: the GPU has no partition
    /// @param room nullptr: all of the GPU
    struct Prepared {
        int result = cuda::success; ///< what the launch is to fail with
        bool kept = true;           ///< false: if it were kept to the partition it might never end
    };
    Prepared prepare(cuda::Handle exec, std::uint32_t generation, const Room *room, Counts *counts);

  private:
    struct Graph {
        cuda::Handle copy = nullptr;  ///< nullptr: there is none
        std::uint32_t generation = 0; ///< of its descriptors; 0: it has none
        bool checked = false;         ///< that it fits, since it was last changed
        bool kept = true;             ///< the result of prepare() then
        bool cooperative = false;     ///< has such a node, or may have
        bool old = false;             ///< counted as one that keeps an older partition
        Counts *counts = nullptr;     ///< where it is counted
        cuda::Handle context = nullptr;
    };

    void forget(Graph &graph);
    void take_copy(Graph &known, cuda::Handle graph);
    /// Before it is removed.
    void uncount(Graph &graph);
    void set_old(Graph &graph, bool old);
    /// Has it a node that must run all at once, with more blocks than fit? nullopt: unknown.
    [[nodiscard]] std::optional<bool> too_large(cuda::Handle graph, Room room) const;
    /// Changes each kernel node of @p graph. False: one cannot be.
    bool alter(cuda::Handle graph) const;
    int bring_along(cuda::Handle exec, const Graph &graph, bool &done) const;

    const cuda::Library &cuda_;
    Mutex mutex_;
    Table<Graph> graphs_;
    bool lost_ = false; ///< there was no memory for one
};

} // namespace nvtaskset
