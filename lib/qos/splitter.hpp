// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Which TPCs a tenant has for itself beside others at an MPS server, while a Pacer keeps its
/// speed: a search for the division that leaves the others most, as Spart's hill climb in the
/// paper.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "goal.hpp"

namespace qos {

/// Launches of the others are compared over some time with each division that is tried, from one
/// moment at which the tenant is not behind its goal to another one: whatever it is owed by then is
/// the division's.
class Splitter {
  public:
    struct Times {
        Ns settle = 100 * ms; ///< after a change; what was launched before has the old TPCs
        Ns count = 400 * ms;
        Ns longest = 700 * ms; ///< it is waited so long that the tenant is not behind
        /// From the end of a search to the next at first, and again where its result was another
        /// one than before. Else twice as long each time,
        Ns again = 60 * second;
        Ns rarest = 960 * second; ///< but no longer
    };

    /// @param tpcs of the GPU, at least 2
    /// @param goal of the tenant's speed alone
    Splitter(int tpcs, Part goal, Ns now) : Splitter(tpcs, goal, now, Times()) {}
    Splitter(int tpcs, Part goal, Ns now, const Times &times);

    /// What the others do: they launch; are held, as the tenant is behind its goal; are held for a
    /// look at its speed alone, which does not count; or have no work.
    enum class Others { launch, yield, look, idle };

    /// @param ended launches of the others that have ended so far, which does not go back
    void step(Ns now, std::uint64_t ended, Others others);

    /// There is another task beside the tenant: the next search is not put off any longer.
    void others_changed() { rest_ = std::min(rest_, times_.again); }

    /// TPCs of the tenant; the others have the rest. 0: all have all.
    int own() const { return tried_; }
    bool is_searching() const { return stage_ != Stage::rests; }

  private:
    enum class Stage { undivided, first, down, up, rests };

    void attempt(int own, Stage stage, Ns now);
    void conclude(double rate, Ns now);
    void narrow(Ns now);
    void end(Ns now);
    int clamped(int own) const;

    const Times times_;
    const int tpcs_;
    Ns rest_ = 0;              ///< until the next search
    std::optional<int> found_; ///< by the last one
    int begin_;                ///< the first division of a search
    int coarse_;               ///< its first step
    Stage stage_ = Stage::undivided;
    int tried_ = 0;             ///< as it is now
    int best_ = 0, stride_ = 0; ///< of the divisions that were tried
    double best_rate_ = 0, undivided_rate_ = 0;
    Ns since_; ///< of the attempt; of the end of the search
    bool counts_ = false;
    Ns counted_ = 0;             ///< so long
    std::uint64_t launches_ = 0; ///< that ended in it
    Ns at_;                      ///< the last step
    std::uint64_t ended_ = 0;    ///< until then
};

} // namespace qos
