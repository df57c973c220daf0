// SPDX-License-Identifier: MIT OR GPL-2.0
#include "features.hpp"

namespace nvdebug {

std::string_view feature_of(std::string_view file) {
    struct Row {
        std::string_view prefix, feature;
    };
    // The first that fits counts.
    static constexpr Row rows[] = {
        {"device_info", "device_info"},
        {"runlist", "runlist"},
        {"contexts", "contexts"},
        {"engines", "engines"},
        {"translate", "contexts"},
        {"disable_channel", "channel_control"},
        {"enable_channel", "channel_control"},
        {"preempt_tsg", "runlist_control"},
        {"switch_to_tsg", "runlist_control"},
        {"set_timeslice", "runlist_control"},
        {"preempt_runlist", "runlist_control"},
        {"resubmit_runlist", "runlist_control"},
        {"scheduling", "runlist_control"},
        {"preemption_mode", "preemption_mode"},
        {"pce_map", "copy_topology"},
        {"lce_for_pce", "copy_topology"},
        {"shared_lce_for_grce", "copy_topology"},
        {"copy_topology", "copy_topology"},
        {"sm_map", "work_distributor"},
        {"work_distributor", "work_distributor"},
        {"num_", "gpc_topology"},
        {"gpc", "gpc_topology"},
    };
    for (const Row &row : rows)
        if (file.starts_with(row.prefix))
            return row.feature;
    return {};
}

} // namespace nvdebug
