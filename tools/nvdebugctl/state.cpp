// SPDX-License-Identifier: MIT OR GPL-2.0
#include "state.hpp"

#include <fmt/format.h>

namespace nvdebugctl {

namespace {

template <typename T>
void note_error(std::vector<nvdebug::Error> &errors, const nvdebug::Result<T> &result) {
    if (!result && result.error().code != nvdebug::ErrorCode::unsupported)
        errors.push_back(result.error());
}

void note_list(std::vector<nvdebug::Error> &errors, const nvdebug::Runlist &list,
               const std::string &path) {
    if (list.torn)
        errors.push_back({nvdebug::ErrorCode::busy, 0, path,
                          path + ": the list moved each time it was read; read it again"});
    else if (!list.channels)
        errors.push_back({nvdebug::ErrorCode::io, 0, path,
                          path + ": the list cannot be read, since its aperture is invalid"});
}

} // namespace

std::string runlist_file(std::uint32_t runlist) {
    return fmt::format("runlist{}_brief", runlist);
}

State read_state(const nvdebug::Gpu &gpu, std::optional<std::uint32_t> only) {
    State state{gpu.path(""), gpu.info(),           gpu.engines(),   gpu.engine_states(),
                {},           gpu.address_spaces(), gpu.scheduling()};
    while (!state.folder.empty() && state.folder.back() == '/')
        state.folder.pop_back();
    if (only)
        state.runlists.emplace(*only, gpu.runlist(*only, nvdebug::Detail::brief));
    else if (state.info)
        for (std::uint32_t id : state.info->runlists)
            state.runlists.emplace(id, gpu.runlist(id, nvdebug::Detail::brief));
    return state;
}

std::vector<nvdebug::Error> list_errors_of(const State &state) {
    std::vector<nvdebug::Error> errors;
    for (const auto &[id, list] : state.runlists) {
        note_error(errors, list);
        if (list)
            note_list(errors, *list, state.folder + "/" + runlist_file(id));
    }
    return errors;
}

std::vector<nvdebug::Error> errors_of(const State &state) {
    std::vector<nvdebug::Error> errors = list_errors_of(state);
    note_error(errors, state.info);
    note_error(errors, state.engines);
    note_error(errors, state.now);
    note_error(errors, state.spaces);
    note_error(errors, state.scheduling);
    return errors;
}

} // namespace nvdebugctl
