// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The file of `nvqos simulate -o`: the turns of a run, for Perfetto.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "failure.hpp"
#include "lib/base/new_file.hpp"
#include "lib/drawing/events.hpp"
#include "lib/simulation/observer.hpp"

namespace nvqos {

/// Writes the turns of all ranks, and a mark for each request of the governor. In the trace a job
/// is a process, whose pid is the job's place in the scenario, counted from 1 on. Times count from
/// the begin of the run.
class Trace : public simulation::Observer {
  public:
    /// Fails if the path does not end with `.pftrace`, or if no file can be made there.
    static Outcome<std::unique_ptr<Trace>> open(const std::string &path,
                                                const simulation::Scenario &scenario);

    void turn(const simulation::RankPlace &where, qos::Ns begin, qos::Ns end, bool whole) override;
    void served(const simulation::RankPlace &where, const simulation::Request &request,
                qos::Ns now) override;

    /// Completes the file, which gets its name only now, and replaces an older file. Fails if
    /// anything of the trace could not be written.
    Outcome<void> finish();

  private:
    Trace(std::string path, nvdebug::base::NewFile file, const simulation::Scenario &scenario);
    void drain(std::size_t least);

    const std::string path_;
    nvdebug::base::NewFile file_;
    int error_ = 0; ///< the errno of the first write that failed
    std::unique_ptr<drawing::TextSink> sink_;
    std::deque<drawing::Lane> lanes_;                 ///< by GPU
    std::vector<drawing::RecordedProcess> processes_; ///< by job
};

} // namespace nvqos
