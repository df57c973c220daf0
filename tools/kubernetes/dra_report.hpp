// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Shows in each claim what its tenants got: the status of its devices, and events.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dra_claims.hpp"
#include "dra_watch.hpp"

namespace nvdebug::kubernetes {

/// The state of one device of a claim.
struct DeviceReport {
    ClaimDevice device;
    std::string status; ///< of the condition `Kept`: `True`, `False` or `Unknown`
    std::string reason; ///< `Kept`, `NotKept`, `NotJudged`, `Refused` or `NvqosAway`
    std::string message;
    Json data; ///< what is asked and got, for programs

    /// Returns whether a reader learns nothing new from @p other: all is the same but for the times
    /// and less than one percent of a GPU.
    [[nodiscard]] bool is_like(const DeviceReport &other) const;
};

/// Returns the reports on the devices of a claim.
[[nodiscard]] std::vector<DeviceReport> reports_on(const ClaimState &claim, const NvqosView &view);

struct ReportSettings {
    std::string node;
    std::chrono::nanoseconds period = std::chrono::minutes(1); ///< a claim is written no sooner
    std::chrono::nanoseconds not_kept_for = std::chrono::minutes(1); ///< until there is an event
    bool makes_events = true;
};

/// Writes reports to the API server. Used by one thread.
class ClaimReporter {
  public:
    using Log = std::function<void(const std::string &)>;
    ClaimReporter(const ApiServer &api, ReportSettings settings, Log log);

    /// Writes what has changed and is due. Fails if the API server did not take something that it
    /// may take later.
    [[nodiscard]] ApiOutcome<void> report(const std::vector<ClaimState> &claims,
                                          const NvqosView &view, Clock::time_point now);

  private:
    enum class Said { nothing, kept, not_kept, refused };
    struct Row {
        std::vector<DeviceReport> written = {};
        std::vector<std::string> since = {}; ///< `lastTransitionTime` of each condition
        std::optional<Clock::time_point> wrote_at = {};
        std::optional<Clock::time_point> not_kept_since = {};
        Said said = Said::nothing; ///< the last event
        bool is_gone = false;      ///< the API server does not have the claim any more
        bool was_read = false;     ///< `since` and `pods` are from the API server
        Json pods = Json::array(); ///< the claim's `reservedFor`
    };

    [[nodiscard]] ApiOutcome<void> write_status(const ClaimId &id, Row &row,
                                                const std::vector<DeviceReport> &reports,
                                                Clock::time_point now);
    [[nodiscard]] ApiOutcome<void> read_claim(const ClaimId &id, Row &row,
                                              const std::vector<DeviceReport> &reports);
    void tell(const ClaimId &id, Row &row, const std::vector<DeviceReport> &reports,
              Clock::time_point now);
    void make_event(const ClaimId &id, const Row &row, const char *type, const char *reason,
                    const std::string &message);

    const ApiServer &api_;
    const ReportSettings settings_;
    const Log log_;
    bool may_write_ = true, may_make_events_ = true;
    std::map<std::string, Row> rows_; ///< by uid
};

} // namespace nvdebug::kubernetes
