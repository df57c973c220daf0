// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file The tasks and turns of a recording or of GPUs, from which their bursts of work are found.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "lib/drawing/events.hpp"
#include "nvdebug/expected.hpp"
#include "seen.hpp"

namespace simulation {

/// The GPUs of a record on which two tasks or more had turns, and the names of these tasks.
struct Sighting {
    Seen seen;
    struct Card {
        std::string chip, product; ///< `GH100` and `NVIDIA H200`; empty: not known
    };
    std::vector<Card> cards;        ///< by Seen::gpus
    std::vector<std::string> who;   ///< by task: the WHO of a goal; empty: no WHO names the task
    std::vector<std::string> notes; ///< sentences on missing or doubtful turns
    Ns length = 0;                  ///< the length of the longest record
};

/// Collects turns that were recorded by switches. It only notes whether there are samples, because
/// they do not show when turns began and ended.
class Watched : public drawing::Sink {
  public:
    void head(const drawing::RecordingHead &head) override;
    void process(std::uint32_t gpu, const drawing::RecordedProcess &process) override;
    void turn(const drawing::Lane &lane, const nvdebug::Turn &turn,
              const drawing::RecordedProcess *process) override;
    void lost(const drawing::Lane &lane, std::uint64_t ns, std::uint64_t count) override;
    void end(const drawing::Lane &lane, const drawing::LaneEnd &end) override;
    using Sink::end;

    /// Returns the GPUs with two tasks or more. Fails with a sentence if there is none.
    /// @param source the place of the turns, as sentences name it after `in`: the name of a
    /// recording, or `10 s`
    tl::expected<Sighting, std::string> sighting(const std::string &source) const;

  private:
    /// The pid and the start of a process; without a pid, its context.
    using Who = std::tuple<std::uint32_t, std::optional<std::uint64_t>, std::uint32_t>;
    struct Task {
        std::string name;
        std::optional<std::uint32_t> pid;
        std::optional<std::string> command;
    };
    struct Gpu {
        Sighting::Card card = {};
        std::vector<SeenTurn> turns = {}; ///< SeenTurn::task is a place in tasks_
        std::vector<SeenGpu::Hole> holes = {};
        std::optional<Ns> lost_after = {}; ///< switches were lost after this moment
        std::uint64_t lost = 0;            ///< the number of switches
        std::optional<Ns> begin = {}, end = {};
        /// By task: the timeslices of its TSGs on the engine, and its contexts that had turns.
        std::map<std::size_t, std::vector<Ns>> timeslices = {};
        std::map<std::size_t, std::set<std::uint32_t>> contexts = {};
        bool is_full = false; ///< there are most_turns turns, and later ones are left out
    };

    std::size_t task_of(const nvdebug::Turn &turn, const drawing::RecordedProcess *process);
    std::optional<SeenGpu> seen_on(std::uint32_t number, const Gpu &gpu, std::size_t &small,
                                   std::size_t &surplus) const;
    std::string why_none(const std::string &source) const;
    std::vector<std::string> notes_on(const std::set<std::uint32_t> &gpus, std::size_t small,
                                      std::size_t surplus) const;

    std::map<std::uint32_t, Gpu> gpus_;
    std::map<Who, std::size_t> places_;
    std::vector<Task> tasks_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, drawing::RecordedProcess> processes_;
    bool has_samples_ = false;
};

} // namespace simulation
