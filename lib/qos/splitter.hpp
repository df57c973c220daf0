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

/// Compares divisions by the launches of the others. Each division is tried for some time, from one
/// moment at which the tenant is not behind its goal to another one, so that a debt to the tenant
/// counts for the division that made it.
class Splitter {
  public:
    struct Times {
        Ns settle = 100 * ms;  ///< after a change, as earlier launches have the old TPCs
        Ns count = 400 * ms;   ///< how long launches are counted with a division
        Ns longest = 700 * ms; ///< the longest wait for a moment at which the tenant is not behind
        /// The time between the first two searches, and after a search with a new result. Each
        /// search with the same result doubles the time, up to `rarest`.
        Ns again = 60 * second;
        Ns rarest = 960 * second; ///< the longest time between two searches
    };

    /// @param tpcs of the GPU, at least 2
    /// @param goal of the tenant's speed alone
    Splitter(int tpcs, Part goal, Ns now) : Splitter(tpcs, goal, now, Times()) {}
    Splitter(int tpcs, Part goal, Ns now, const Times &times);

    /// The state of the others. They launch; they yield, which means that they are held because the
    /// tenant is behind its goal; they are held for a look at its speed alone, which does not
    /// count; or they have no work.
    enum class Others { launch, yield, look, idle };

    /// @param ended launches of the others that have ended so far, which does not go back
    void step(Ns now, std::uint64_t ended, Others others);

    /// There is another task beside the tenant: the next search is not put off any longer.
    void others_changed() { rest_ = std::min(rest_, times_.again); }

    /// Returns how many TPCs the tenant has; the others have the rest. 0: all have all.
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
    std::optional<int> found_; ///< the result of the last search
    int begin_;                ///< the first division of a search
    int coarse_;               ///< its first step
    Stage stage_ = Stage::undivided;
    int tried_ = 0;             ///< the present division
    int best_ = 0, stride_ = 0; ///< the best division so far, and the present step
    double best_rate_ = 0, undivided_rate_ = 0;
    Ns since_; ///< when the attempt began, or the search ended
    bool counts_ = false;
    Ns counted_ = 0;             ///< how long this attempt has counted
    std::uint64_t launches_ = 0; ///< launches that ended in that time
    Ns at_;                      ///< when the last step was
    std::uint64_t ended_ = 0;    ///< launches that had ended at the last step
};

} // namespace qos
