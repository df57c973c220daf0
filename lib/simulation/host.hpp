// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Host of one GPU: which TSG has the GPU. A state machine in virtual time.
///
/// The TSGs are a list that is served round robin. The TSG that has the GPU keeps it until another
/// one has work and either it has none itself, when it gives way at once, or its timeslice is over.
/// In the second case it leaves Gpus::late after that, and makes no progress meanwhile. From the
/// end of a turn to the next one Gpus::switching passes. A TSG that was interrupted, by the end of
/// its timeslice or by a pause, makes no progress for Gpus::resume in its next turn.
///
/// While no other one has work, the timeslice of the TSG on the GPU is over once, or, with
/// Gpus::slices_follow, begins again each time.
///
/// A TSG without work stays on the GPU, and its turn goes on, while no other one has work. NVIDIA's
/// driver records it in the same way on an H100.
#pragma once

#include <limits>
#include <optional>

#include "scenario.hpp"

namespace simulation {

inline constexpr Ns never = std::numeric_limits<Ns>::max();

/// A turn, or a part of one that goes on.
struct Turn {
    std::size_t tsg; ///< as Host::add() numbers them
    Ns begin, end;
    bool ends;
    bool operator==(const Turn &) const = default;
};

/// All times are of the present or later than those of earlier calls.
class Host {
  public:
    explicit Host(const Gpus &gpus) : gpus_(gpus) {}

    /// Adds a TSG at the end of the list, without work.
    /// @param timeslice_us in the driver's microseconds; empty: Gpus::timeslice_us
    std::size_t add(std::optional<std::int64_t> timeslice_us = std::nullopt);
    void set_work(std::size_t tsg, bool has_work, Ns now);
    /// Removes all work and stops the TSG for good.
    void remove(std::size_t tsg, Ns now);
    void set_paused(std::size_t tsg, bool paused, Ns now);
    /// A new timeslice of the TSG on the GPU begins now.
    void set_timeslice(std::size_t tsg, std::int64_t driver_us, Ns now);

    /// Returns when step() is to be called.
    Ns due() const;
    void step(Ns now);

    /// Returns the TSG that makes progress.
    std::optional<std::size_t> progressing() const;
    /// Returns the TSG that has the GPU, and work.
    std::optional<std::size_t> holder() const;
    /// Returns the turns that ended since the last call.
    std::vector<Turn> take_turns();
    /// Returns the part of the turn that goes on, up to now, since it began or was last split.
    std::optional<Turn> split(Ns now);

  private:
    struct Tsg {
        Ns timeslice;
        bool has_work = false, paused = false, interrupted = false;
        bool wants() const { return has_work && !paused; }
    };

    bool others_want() const;
    /// Begins the timeslice of the TSG on the GPU again if it was over while no other TSG had work.
    /// Is called before another one may get work.
    void follow_slices(Ns now);
    void leave(Ns now);
    void begin(Ns now);
    /// Decides whether the TSG on the GPU has to leave.
    void judge(Ns now);
    Ns slice_end() const { return slice_begin_ + tsgs_[*on_].timeslice; }

    const Gpus gpus_;
    std::vector<Tsg> tsgs_;
    std::size_t wanting_ = 0; ///< of tsgs_
    std::optional<std::size_t> on_;
    std::size_t last_ = 0; ///< the TSG that had the last turn; the first in the list comes first
    bool had_turn_ = false;
    Ns free_at_ = 0; ///< when the next turn may begin
    Ns turn_begin_ = 0, slice_begin_ = 0;
    Ns resumed_at_ = 0;           ///< from when on the TSG on the GPU makes progress
    bool is_resumed_ = false;     ///< that time has come
    std::optional<Ns> leaves_at_; ///< its timeslice was over, and its turn ends then
    std::vector<Turn> turns_;
};

} // namespace simulation
