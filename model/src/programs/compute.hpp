// SPDX-License-Identifier: MIT OR GPL-2.0
// One context on a graphics engine: kernels of blocks over SMs, and copies that the engine does
// itself. The context executes only after set_executing(true).
#pragma once

#include "base/time.hpp"
#include "programs/operation.hpp"
#include "programs/switch_cost.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

namespace nvmodel {

/// The resources of an SM that are free, or in use.
struct SmRoom {
    unsigned blocks = 0;
    unsigned threads = 0;
    unsigned registers = 0;
    std::uint64_t shared = 0;

    [[nodiscard]] static SmRoom of_sm() { return {32, 2048, 65536, 228 << 10}; }
    [[nodiscard]] static SmRoom of_block(const Kernel &kernel);

    [[nodiscard]] bool holds(const SmRoom &more) const {
        return more.blocks <= blocks && more.threads <= threads && more.registers <= registers &&
               more.shared <= shared;
    }
    SmRoom &operator+=(const SmRoom &more);
    SmRoom &operator-=(const SmRoom &less);
};

/// The part of a context that one process has.
struct Subcontext {
    std::vector<unsigned> sms; // SMs where its blocks may execute
    unsigned shift = 0;        // added to the SM numbers that blocks read, modulo all SMs
};

class Compute {
  public:
    Compute(unsigned sms, std::vector<Subcontext> subcontexts);

    /// Appends the next operation of a subcontext. A copy takes `takes`. The operation must stay in
    /// place.
    void add(std::size_t subcontext, std::size_t number, Operation &operation, Ns takes);

    /// Starts or stops the execution. A stopped context keeps its state.
    void set_executing(bool executing);
    /// Sets whether waiting blocks are placed.
    void set_placing(bool placing);

    /// Returns when something ends next, as long as nothing changes.
    [[nodiscard]] Ns next_end() const;
    /// Lets time pass; appends the operations that have ended to `ended`.
    void advance(Ns to, std::vector<std::size_t> &ended);

    [[nodiscard]] bool executing() const { return executing_; }
    /// Returns whether a block is on an SM, or a copy is under way.
    [[nodiscard]] bool occupied() const { return live_ != 0; }
    /// Returns whether there are operations that have not ended.
    [[nodiscard]] bool busy() const { return unfinished_ != 0; }
    [[nodiscard]] Held held() const;

  private:
    struct Task {
        std::size_t number;
        Operation *operation;
        Ns takes;            // duration of a copy, or of each block
        unsigned placed = 0; // blocks; a copy counts as one
        unsigned ended = 0;  // blocks; a copy counts as one
        [[nodiscard]] unsigned parts() const {
            return operation->kernel ? operation->kernel->blocks : 1;
        }
    };
    /// A block on an SM, or a copy.
    struct Part {
        Task *task; // null: this place is free
        unsigned number = 0;
        unsigned sm = 0;
    };
    struct End {
        Ns at;
        std::uint64_t order; // the part that was placed first goes first
        std::size_t slot;
        bool operator>(const End &other) const {
            return at != other.at ? at > other.at : order > other.order;
        }
    };
    using Ends = std::priority_queue<End, std::vector<End>, std::greater<>>;

    void place();
    bool place_next(std::size_t subcontext);
    [[nodiscard]] std::optional<unsigned> find_sm(const Subcontext &subcontext,
                                                  const Kernel &kernel) const;
    void start(Part part);
    void end(std::size_t slot, std::vector<std::size_t> &ended);
    void begin_interval(const Part &part) const;
    void end_interval(const Part &part) const;

    std::vector<Subcontext> subcontexts_;
    std::deque<Task> tasks_;                  // they do not move in memory
    std::vector<std::deque<Task *>> waiting_; // by subcontext: tasks with parts to place
    std::size_t turn_ = 0;                    // the subcontext that places next
    std::vector<SmRoom> free_room_;           // by SM
    std::vector<Part> parts_;
    std::vector<std::size_t> free_; // free places in parts_
    Ends by_execution_;             // in executed_'s time
    Ends by_clock_;
    bool executing_ = false;
    bool placing_ = true;
    bool copying_ = false;
    std::size_t live_ = 0;
    std::size_t unfinished_ = 0;
    std::uint64_t order_ = 0;
    Ns now_ = 0;
    Ns executed_ = 0;
};

} // namespace nvmodel
