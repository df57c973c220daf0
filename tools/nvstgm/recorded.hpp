// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file A task set from a recording of nvdebugctl, which shows when each process had the GPU.
///
/// A task is a process with bursts of work and pauses (lib/simulation/bursts.hpp). A pause of some
/// length ends a job, and shorter ones are CPU segments between the job's GPU segments. The record
/// shows no copies, and no CPU time before the first burst. As it is about the whole GPU, that is
/// the one "SM" of the set.
#pragma once

#include "forms.hpp"

namespace nvstgm {

/// The options of `profile --from`: times of copies, which a recording does not show, a margin for
/// measured times, and the pause that ends a job.
struct RecordingRules {
    std::string gpu;                   ///< its number in the recording; empty: there is one alone
    std::int64_t margin;               ///< above the longest times, in percent
    stgm::Time to_device, from_device; ///< the copies of each GPU segment, in us
    stgm::Time job_pause;              ///< a pause of at least this ends a job, in us
};

struct RecordedSet {
    std::string source; ///< the name of the recording
    std::uint32_t gpu;
    double seconds; ///< the length of the record
    stgm::TaskSet set;
    Json rows;                      ///< a row for each task of the set
    std::vector<std::string> notes; ///< tasks that were left out, and doubts
};

/// Makes a set of the recording's tasks, each on a core of its own. Fails if no task has jobs.
Answer<RecordedSet> set_of_recording(const std::string &path, const RecordingRules &rules);

} // namespace nvstgm
