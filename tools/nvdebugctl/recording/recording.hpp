// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Events of a recording, live or from a file, and its output formats. */
#ifndef NVDEBUGCTL_RECORDING_HPP
#define NVDEBUGCTL_RECORDING_HPP

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "cli/command.hpp"
#include "lib/drawing/events.hpp"
#include "nvdebug/turns.hpp"

namespace nvdebugctl {

using drawing::ClockReading;
using drawing::Lane;
using drawing::LaneEnd;
using drawing::Mark;
using drawing::name_of;
using drawing::RecordedGpu;
using drawing::RecordedProcess;
using drawing::RecordingHead;
using drawing::Sink;
using drawing::TextSink;

/** Processes of all GPUs. A pid may be reused: the start distinguishes the processes. */
class RecordedProcesses {
  public:
    const RecordedProcess *insert(std::uint32_t gpu, const RecordedProcess &process) {
        return &all_.insert_or_assign({gpu, process.pid, process.started}, process).first->second;
    }
    /** nullptr: not known. */
    const RecordedProcess *find(std::uint32_t gpu, const nvdebug::Holder &who) const {
        if (!who.pid)
            return nullptr;
        const auto found = all_.find({gpu, *who.pid, who.started});
        return found == all_.end() ? nullptr : &found->second;
    }
    template <typename Do>
    void each(Do what) const {
        for (const auto &[key, process] : all_)
            what(std::get<0>(key), process);
    }

  private:
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::optional<std::uint64_t>>,
             RecordedProcess>
        all_; ///< by GPU, pid, start
};

/** Passes each event to several sinks. */
class Tee final : public Sink {
  public:
    void add(Sink &sink) { sinks_.push_back(&sink); }
    void head(const RecordingHead &head) override;
    void clock(std::uint32_t gpu, const ClockReading &reading) override;
    void process(std::uint32_t gpu, const RecordedProcess &process) override;
    void turn(const Lane &lane, const nvdebug::Turn &turn, const RecordedProcess *process) override;
    void lost(const Lane &lane, std::uint64_t ns, std::uint64_t count) override;
    void mark(const Mark &mark) override;
    void end(const Lane &lane, const LaneEnd &end) override;
    void end(const Json &summary) override;

  private:
    std::vector<Sink *> sinks_;
};

/** Adds it up: shares, lengths of turns, what switching took. */
class Totals final : public Sink {
  public:
    void head(const RecordingHead &head) override { head_ = head; }
    void process(std::uint32_t gpu, const RecordedProcess &process) override;
    void turn(const Lane &lane, const nvdebug::Turn &turn, const RecordedProcess *process) override;
    void lost(const Lane &lane, std::uint64_t ns, std::uint64_t count) override;
    void mark(const Mark &) override { marks_++; }
    void end(const Lane &lane, const LaneEnd &end) override;

    std::uint64_t turns() const { return turns_; }
    /** `data` of nvdebug/record. @param cost of a core, 0 to 1; empty: not known */
    Json summary(std::optional<double> cost) const;

  private:
    struct Engine {
        nvdebug::Tally tally;
        std::optional<std::uint64_t> first_ns, last_ns; ///< of turns
        std::uint64_t lost = 0;
        LaneEnd end;
    };
    RecordingHead head_;
    std::map<const Lane *, Engine> engines_;
    std::vector<const Lane *> order_; ///< in which they came
    RecordedProcesses processes_;
    std::uint64_t turns_ = 0, marks_ = 0;
};

/** Rows of the summary, one for each process on each engine. */
Json summary_rows(const Json &summary);
void show_summary(const Json &summary, Page &page);
std::vector<Column> summary_columns();
std::vector<Field> summary_fields();
/** What a line of NDJSON may be: one for each kind. */
std::vector<Field> recording_lines();

/** A form of recording: `perfetto`. */
struct Form {
    std::string name;
    std::vector<std::string> endings; ///< of files: `.pftrace`
    std::unique_ptr<TextSink> (*make)();
};
const std::vector<Form> &forms();
std::unique_ptr<TextSink> make_ndjson();
std::unique_ptr<TextSink> make_csv();
std::unique_ptr<TextSink> make_html();

/** Since when a GPU's times of a form are counted: what they are goes into 53 bits, which is all
 *  that JavaScript and most others have for a number. */
struct Origin {
    std::uint64_t gpu_ns = 0;
    /** The same moment by other clocks; empty: not known. */
    std::optional<std::uint64_t> monotonic_ns = {}, realtime_ns = {}, boottime_ns = {};
};

/** A recording that was made as NDJSON (version 1 or 2), replayed once. The events refer to this
 *  object. */
class RecordedFile {
  public:
    /** @return whether it is whole: its last line is there. */
    Outcome<bool> tell(const std::string &path, Sink &sink);

  private:
    std::uint64_t time_in(const Json &line, const char *key,
                          const std::optional<std::uint64_t> &base) const;
    std::uint64_t gpu_time_in(const Json &line, const char *key) const;
    void read_origin(const Json &line);
    void tell_head(const Json &line, Sink &sink);
    void tell_clock(const Json &line, Sink &sink);
    void tell_turn(const Json &line, Sink &sink);
    void tell_process(const Json &line, Sink &sink);
    void tell_end(const Json &line, Sink &sink);
    void tell_line(const std::string &text, Sink &sink);
    const Lane &lane(const Json &line, Lane::Means means);
    bool is_of_gr0(const nvdebug::Turn &turn, const Lane &where) const;
    bool cut_at_begin(nvdebug::Turn &turn, std::uint32_t gpu) const;

    int version_ = 0; ///< major; 0: the first line was not read yet
    bool is_whole_ = false;
    std::set<std::uint32_t> gpus_;
    std::map<std::uint32_t, Origin> origins_;                     ///< by GPU
    std::map<std::uint32_t, std::uint64_t> begins_;               ///< by GPU, by its clock
    std::map<std::uint32_t, ClockReading> clocks_;                ///< the last, by GPU
    std::map<std::pair<std::uint32_t, std::string>, Lane> lanes_; ///< by GPU, engine
    std::set<const Lane *> ended_;
    RecordedProcesses processes_;
    /** Of each number the process that had it last, by GPU and pid. */
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::optional<std::uint64_t>> started_;
};

} // namespace nvdebugctl

#endif
