// SPDX-License-Identifier: MIT OR GPL-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <nlohmann/json_fwd.hpp>

#include "events.hpp"
#include "nvdebug/error.hpp"

namespace recording {

using drawing::ClockReading;
using drawing::Json;
using drawing::Lane;
using drawing::Sink;

/// Replays a recording that was made as NDJSON (version 1 or 2), once. The events refer to this
/// object.
class RecordedFile {
  public:
    /// Replays the file.
    /// @return whether the recording is whole: its last line is there
    [[nodiscard]] nvdebug::Result<bool> replay(const std::string &path, Sink &sink);

  private:
    std::uint64_t time_in(const Json &line, const char *key,
                          const std::optional<std::uint64_t> &base) const;
    std::uint64_t gpu_time_in(const Json &line, const char *key) const;
    void read_origin(const Json &line);
    void replay_head(const Json &line, Sink &sink);
    void replay_clock(const Json &line, Sink &sink);
    void replay_turn(const Json &line, Sink &sink);
    void replay_process(const Json &line, Sink &sink);
    void replay_end(const Json &line, Sink &sink);
    void replay_line(const std::string &text, Sink &sink);
    const Lane &lane(const Json &line, Lane::Means means);
    bool is_of_gr0(const nvdebug::Turn &turn, const Lane &where) const;
    bool cut_at_begin(nvdebug::Turn &turn, std::uint32_t gpu) const;

    int version_ = 0; ///< major version; 0: the first line was not read yet
    bool is_whole_ = false;
    std::set<std::uint32_t> gpus_;
    std::map<std::uint32_t, Origin> origins_;                     ///< by GPU
    std::map<std::uint32_t, std::uint64_t> begins_;               ///< by GPU, in the GPU's clock
    std::map<std::uint32_t, ClockReading> clocks_;                ///< the last reading of each GPU
    std::map<std::pair<std::uint32_t, std::string>, Lane> lanes_; ///< by GPU, engine
    std::set<const Lane *> ended_;
    RecordedProcesses processes_;
    /// The start of the last process of each number, by GPU and pid.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::optional<std::uint64_t>> started_;
};

} // namespace recording
