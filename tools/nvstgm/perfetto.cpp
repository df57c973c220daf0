// SPDX-License-Identifier: MIT OR GPL-2.0
#include "perfetto.hpp"

#include <map>
#include <memory>

#include "forms.hpp"
#include "recording.hpp"

namespace nvstgm {
namespace {

using nvdebugctl::Lane;
using nvdebugctl::RecordedProcess;
using stgm::What;

constexpr std::uint64_t ns_per_unit = 1000;

std::uint64_t ns(stgm::Time time) { return static_cast<std::uint64_t>(time) * ns_per_unit; }

class Writer {
  public:
    explicit Writer(const stgm::TaskSet &set) : set_(set), sink_(nvdebugctl::make_perfetto()) {
        sink_->head({.time = "", .source = "simulation", .period_ns = 0, .gpus = {{0, "simulated", std::nullopt}}});
        for (std::size_t task = 0; task < set.tasks.size(); task++)
            processes_.push_back({.pid = static_cast<std::uint32_t>(task) + 1, .command = set.tasks[task].name});
    }

    void add(const stgm::Record &record) {
        const stgm::Task &task = set_.tasks[record.task];
        const std::string core = "core " + std::to_string(*task.core);
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
            mark(record, task.name + ": " + std::to_string(record.at - released_[{record.task, record.job}]) +
                             " after its release" +
                             (record.at - released_[{record.task, record.job}] > task.deadline ? ", too late" : ""));
            break;
        default:
            break;
        }
    }

    std::string text() {
        sink_->end(nvdebugctl::Json());
        return sink_->text();
    }

  private:
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
        sink_->turn(lanes_.try_emplace(lane, Lane{0, lane, Lane::Means::switches}).first->second, turn, &process);
        since_.erase(since);
    }

    void mark(const stgm::Record &record, const std::string &text) {
        sink_->mark({0, ns(record.at), static_cast<std::uint32_t>(record.task) + 1, text});
    }

    const stgm::TaskSet &set_;
    std::unique_ptr<nvdebugctl::TextSink> sink_;
    std::vector<RecordedProcess> processes_;
    std::map<std::string, Lane> lanes_;
    std::map<std::pair<What, std::size_t>, stgm::Time> since_;
    std::map<std::pair<std::size_t, std::size_t>, stgm::Time> released_;
};

} // namespace

std::string perfetto(const stgm::TaskSet &set, const stgm::Trace &trace) {
    Writer writer(set);
    for (const stgm::Record &record : trace)
        writer.add(record);
    return writer.text();
}

} // namespace nvstgm
