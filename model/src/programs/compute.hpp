// SPDX-License-Identifier: MIT OR GPL-2.0
// One context on a graphics engine: kernels of blocks over SMs, and copies that the engine does
// itself. It executes only after set_executing(true).
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

/// What an SM has room for, or what is in use of it.
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
    std::vector<unsigned> sms; // where its blocks may execute
    unsigned shift = 0;        // blocks read their SM's number plus this, modulo all SMs
};

class Compute {
  public:
    Compute(unsigned sms, std::vector<Subcontext> subcontexts);

    /// Appends what a subcontext does next. A copy takes `takes`. The operation must stay in place.
    void add(std::size_t subcontext, std::size_t number, Operation &operation, Ns takes);

    /// Executes from now on, or stops where it is.
    void set_executing(bool executing);
    /// Whether blocks that wait are placed.
    void set_placing(bool placing);

    /// When something ends next, as long as nothing changes.
    [[nodiscard]] Ns next_end() const;
    /// Lets time pass; appends what has ended to `ended`.
    void advance(Ns to, std::vector<std::size_t> &ended);

    [[nodiscard]] bool executing() const { return executing_; }
    /// Something is on SMs or copied.
    [[nodiscard]] bool occupied() const { return live_ != 0; }
    /// There are operations that have not ended.
    [[nodiscard]] bool busy() const { return unfinished_ != 0; }
    [[nodiscard]] Held held() const;

  private:
    struct Task {
        std::size_t number;
        Operation *operation;
        Ns takes;            // a copy, or each block
        unsigned placed = 0; // blocks; a copy counts as one
        unsigned ended = 0;  // the same
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
        std::uint64_t order; // first placed goes first
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
    std::deque<Task> tasks_;                  // stay where they are
    std::vector<std::deque<Task *>> waiting_; // by subcontext: not all of it was placed
    std::size_t turn_ = 0;                    // the subcontext that places next
    std::vector<SmRoom> free_room_;           // by SM
    std::vector<Part> parts_;
    std::vector<std::size_t> free_; // places in parts_
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
