// SPDX-License-Identifier: MIT OR GPL-2.0
#include "channel_rows.hpp"

#include "json_types.hpp"

namespace nvdebugctl {

const std::vector<Column> &channel_columns() {
    static const std::vector<Column> columns = {
        {"runlist", "runlist that holds it"},
        {"tsg", "TSG it belongs to; null: none, it is bare"},
        {"channel", "id of the channel"},
        {"error", "why it has no state: its id is out of range", false},
        {"enabled", "Host may schedule it"},
        {"status", "state in words: IDLE, PENDING, ON_PBDMA, ON_ENG and their combinations"},
        {"status_code", "the hardware's number of the state (Kepler to Turing)", false},
        {"next", "it is the next of its TSG or runlist"},
        {"busy", "it has work"},
        {"pending", "it waits for a PBDMA (Ampere and newer)", false},
        {"on_pbdma", "a PBDMA has it (Ampere and newer)", false},
        {"on_engine", "an engine has it (Ampere and newer)", false},
        {"pbdma_busy", "its PBDMA is busy with it (Ampere and newer)", false},
        {"engine_busy", "its engine is busy with it (Ampere and newer)", false},
        {"pbdma_faulted", "it faulted on a PBDMA (Volta and newer)"},
        {"engine_faulted", "it faulted on an engine (Volta and newer)"},
        {"context_reload", "its context is to be loaded again (Ampere and newer)", false},
        {"acquire_fail", "a semaphore acquire failed (Ampere and newer)", false},
        {"force_context_reload", "FORCE_CTX_RELOAD (Kepler to Turing)", false},
        {"enable_set", "ENABLE_SET, which reads 0 (Kepler to Turing)", false},
        {"enable_clear", "ENABLE_CLR, which reads 0 (Kepler to Turing)", false},
        {"bound", "it has an instance block (Kepler to Turing)", false},
        {"runqueue", "runqueue of its entry; null: entries carry none here"},
        {"instance_address", "where its instance block is; null: none, or hidden"},
        {"instance_aperture", "aperture of that address: 'vid', 'coh', 'ncoh' or 'invalid'"},
    };
    return columns;
}

Json channel_rows(const nvdebug::Runlist &list) {
    Json rows = Json::array();
    for (const auto &[channel, tsg] : nvdebug::channels_of(list)) {
        Json row = {{"runlist", list.id}, {"tsg", tsg ? Json(tsg->id) : Json()}};
        row.update(channel_state(*channel));
        rows.push_back(std::move(row));
    }
    return rows;
}

} // namespace nvdebugctl
