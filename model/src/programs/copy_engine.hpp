// SPDX-License-Identifier: MIT OR GPL-2.0
// The copies that a copy engine has begun. The caller sets which of them progress, and how fast.
#pragma once

#include "base/time.hpp"
#include "programs/operation.hpp"

#include <cstddef>
#include <map>
#include <vector>

namespace nvmodel {

class CopyEngine {
  public:
    struct Current {
        std::size_t number;
        Operation *operation; // must stay in place until it has ended
    };

    /// Sets the copies that progress from now on, each with this share of a copy engine's speed.
    void set_current(std::vector<Current> current, double share);
    [[nodiscard]] bool working() const { return !current_.empty() && share_ > 0; }

    /// Returns when a copy ends next, as long as nothing changes.
    [[nodiscard]] Ns next_end() const;
    /// Lets time pass; appends the copies that have ended to `ended`.
    void advance(Ns to, std::vector<std::size_t> &ended);

  private:
    struct Left {
        double setup; // ns, until the first byte
        double bytes;
    };
    [[nodiscard]] double left_ns(const Current &one) const;
    void progress(const Current &one, Ns to);

    std::vector<Current> current_;
    std::map<std::size_t, Left> left_; // copies that were begun
    double share_ = 0;
    Ns now_ = 0;
};

} // namespace nvmodel
