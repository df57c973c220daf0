// SPDX-License-Identifier: MIT OR GPL-2.0
// Bounds the queries about processes, however many objects these processes have made.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "kernel.hpp"

namespace nvdebug::driver {

/// The queries and the time that one look may spend on one process, or on all processes of a user.
class QueryBudget {
  public:
    /// @param whole the budget of all processes of the user; may be null
    QueryBudget(Kernel &kernel, std::uint32_t questions, std::chrono::seconds time,
                QueryBudget *whole = nullptr)
        : kernel_(&kernel), questions_(questions), time_(time), whole_(whole) {}

    /// Counts a query (3.5 us, measured). Returns false if the budget is spent.
    [[nodiscard]] bool spend() {
        if (!until_)
            until_ = kernel_->now() + time_;
        if ((!whole_ || whole_->spend()) && questions_ &&
            (--questions_ % between_looks_at_clock || kernel_->now() < *until_))
            return true;
        spent_ = true;
        return false;
    }
    /// Counts a client. Returns false if the budget is spent.
    [[nodiscard]] bool spend_client() {
        spent_ = spent_ || ++clients_ > clients_most;
        return !spent_;
    }
    [[nodiscard]] bool spent() const { return spent_; }

  private:
    static constexpr std::uint32_t clients_most = 0x100, between_looks_at_clock = 0x100;
    Kernel *kernel_;
    std::uint32_t questions_, clients_ = 0;
    std::chrono::seconds time_;
    QueryBudget *whole_;
    bool spent_ = false;
    std::optional<std::chrono::steady_clock::time_point> until_; ///< set by the first query
};

} // namespace nvdebug::driver
