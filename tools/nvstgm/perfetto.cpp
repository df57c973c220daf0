// SPDX-License-Identifier: MIT OR GPL-2.0
#include "perfetto.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "forms.hpp"
#include "lib/drawing/perfetto.hpp"

namespace nvstgm {
namespace {

using drawing::Lane;
using drawing::RecordedProcess;
using stgm::What;

class Writer {
  public:
    /// @param gpus the GPUs of the turns
    Writer(const stgm::TaskSet &set, Source source, const std::set<std::uint32_t> &gpus = {})
        : set_(set), runs_(source == Source::run), sink_(drawing::make_perfetto()) {
        drawing::RecordingHead head{.time = "",
                                    .source = runs_ ? "run" : "simulation",
                                    .period_ns = 0,
                                    .gpus = {{0, runs_ ? "tasks" : "simulated", std::nullopt}}};
        for (const std::uint32_t gpu : gpus)
            head.gpus.push_back(
                {first_gpu + gpu, "switches of GPU " + std::to_string(gpu), std::nullopt});
        sink_->head(head);
        for (std::size_t task = 0; task < set.tasks.size(); task++)
            processes_.push_back(
                {.pid = static_cast<std::uint32_t>(task) + 1, .command = set.tasks[task].name});
    }

    void add(const stgm::Record &record) {
        const stgm::Task &task = set_.tasks[record.task];
        const std::string core =
            "core " + std::to_string(*task.core) + (runs_ ? ": " + task.name : "");
        switch (record.what) {
        case What::run:
        case What::copy_begin:
        case What::kernel_begin:
            since_[{record.what, record.task}] = record.at;
            break;
        case What::stop:
            turn(core, What::run, record);
            break;
        case What::copy_end:
            turn("copy engine", What::copy_begin, record);
            break;
        case What::kernel_end:
            turn("SMs " + list_of(*task.sms), What::kernel_begin, record);
            break;
        case What::release:
            mark(record, task.name + ": release");
            released_[{record.task, record.job}] = record.at;
            break;
        case What::finish:
            finish(record);
            break;
        case What::overrun:
            mark(record, task.name + ": longer than in the file");
            break;
        case What::stall:
            mark(record, task.name + ": kept from its CPU until now");
            break;
        default:
            break;
        }
    }

    void add(const GpuTurn &turn, stgm::Time begin) {
        if (turn.end <= begin)
            return;
        const RecordedProcess &process =
            gpu_processes_
                .try_emplace(turn.pid, RecordedProcess{.pid = turn.pid, .command = turn.process})
                .first->second;
        nvdebug::Turn found{};
        found.begin_ns = static_cast<std::uint64_t>(std::max<stgm::Time>(turn.begin - begin, 0));
        found.end_ns = static_cast<std::uint64_t>(turn.end - begin);
        found.who.pid = turn.pid;
        found.whole = turn.begin >= begin;
        const Lane lane{first_gpu + turn.gpu, turn.engine, Lane::Means::switches};
        sink_->turn(
            lanes_.try_emplace(std::to_string(turn.gpu) + " " + turn.engine, lane).first->second,
            found, &process);
    }

    std::string text() {
        sink_->end(drawing::Json());
        return sink_->text();
    }

  private:
    std::uint64_t ns(stgm::Time time) const {
        return static_cast<std::uint64_t>(time) * (runs_ ? 1 : ns_per_unit);
    }

    void finish(const stgm::Record &record) {
        const auto release = released_.find({record.task, record.job});
        if (release == released_.end())
            return;
        const stgm::Task &task = set_.tasks[record.task];
        const stgm::Time per_unit = runs_ ? ns_per_unit : 1, response = record.at - release->second;
        mark(record, task.name + ": " + std::to_string(stgm::divide_up(response, per_unit)) +
                         " after its release" +
                         (response > task.deadline * per_unit ? ", too late" : ""));
        released_.erase(release);
    }

    void turn(const std::string &lane, What began, const stgm::Record &record) {
        const auto since = since_.find({began, record.task});
        if (since == since_.end() || since->second == record.at)
            return;
        const RecordedProcess &process = processes_[record.task];
        nvdebug::Turn turn{};
        turn.begin_ns = ns(since->second);
        turn.end_ns = ns(record.at);
        turn.who.pid = process.pid;
        turn.whole = true;
        sink_->turn(lanes_.try_emplace(lane, Lane{0, lane, Lane::Means::switches}).first->second,
                    turn, &process);
        since_.erase(since);
    }

    void mark(const stgm::Record &record, const std::string &text) {
        sink_->mark({0, ns(record.at), static_cast<std::uint32_t>(record.task) + 1, text});
    }

    static constexpr int ns_per_unit = 1000;
    static constexpr std::uint32_t first_gpu = 1; ///< number in the trace, where 0 is the set

    const stgm::TaskSet &set_;
    bool runs_;
    std::unique_ptr<drawing::TextSink> sink_;
    std::vector<RecordedProcess> processes_;
    std::map<std::uint32_t, RecordedProcess> gpu_processes_;
    std::map<std::string, Lane> lanes_;
    std::map<std::pair<What, std::size_t>, stgm::Time> since_;
    std::map<std::pair<std::size_t, std::size_t>, stgm::Time> released_;
};

} // namespace

bool is_perfetto(const std::string &path) {
    return path.ends_with(".pftrace") || path.ends_with(".perfetto-trace");
}

Answer<void> knows_form_of_trace(const Arguments &arguments) {
    return knows_suffix(arguments, "--output", {".pftrace", ".perfetto-trace", ".txt"},
                        "FILE.pftrace or FILE.perfetto-trace for ui.perfetto.dev, FILE.txt or FILE "
                        "for text");
}

std::string perfetto(const stgm::TaskSet &set, const stgm::Trace &trace, Source source) {
    Writer writer(set, source);
    for (const stgm::Record &record : trace)
        writer.add(record);
    return writer.text();
}

std::string perfetto(const stgm::TaskSet &set, const stgm::Trace &trace,
                     const std::vector<GpuTurn> &gpu, stgm::Time begin) {
    std::set<std::uint32_t> gpus;
    for (const GpuTurn &turn : gpu)
        gpus.insert(turn.gpu);
    Writer writer(set, Source::run, gpus);
    for (const stgm::Record &record : trace)
        writer.add(record);
    for (const GpuTurn &turn : gpu)
        writer.add(turn, begin);
    return writer.text();
}

} // namespace nvstgm
