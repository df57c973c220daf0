// SPDX-License-Identifier: MIT OR GPL-2.0
// `top`: what `record` sums up, of each interval, live.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <set>
#include <thread>
#include <tuple>
#include <unistd.h>

#include "cli/context.hpp"
#include "cli/identity.hpp"
#include "cli/joined.hpp"
#include "cli/json.hpp"
#include "cli/output.hpp"
#include "cli/page.hpp"
#include "cli/text.hpp"
#include "lib/base/pod_name_thread.hpp"
#include "open_screen.hpp"
#include "pace.hpp"
#include "recording/chosen.hpp"
#include "recording/recorders.hpp"
#include "recording/summary.hpp"
#include "recording/tee.hpp"
#include "recording/totals.hpp"
#include "task/select.hpp"
#include "top.hpp"
#include "top_view.hpp"
#include "watch_data.hpp"

namespace nvdebugctl {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr unsigned samples_per_second = Recorder::default_rate;

Outcome<Pace> top_pace(const Context &context) {
    return pace_of(context, milliseconds(1000), milliseconds(100), "intervals");
}

/// Sums up one interval after the other.
class Intervals final : public Sink {
  public:
    void clock(std::uint32_t gpu, const ClockReading &reading) override {
        clocks_.insert_or_assign(gpu, reading);
        totals_->clock(gpu, reading);
    }
    void process(std::uint32_t gpu, const RecordedProcess &process) override {
        processes_.insert(gpu, process);
        totals_->process(gpu, process);
    }
    void turn(const Lane &lane, const nvdebug::Turn &turn,
              const RecordedProcess *process) override {
        totals_->turn(lane, turn, process);
    }
    void lost(const Lane &lane, std::uint64_t ns, std::uint64_t count) override {
        totals_->lost(lane, ns, count);
    }
    void mark(const Mark &mark) override { totals_->mark(mark); }
    using Sink::end;
    void end(const Lane &lane, const LaneEnd &end) override { totals_->end(lane, end); }

    /// Returns the data of the interval, which each recorder has ended.
    Json next(const std::string &time) {
        totals_->head({time, "", 1'000'000'000 / samples_per_second, {}});
        Json summary = totals_->summary(std::nullopt);
        // Sorts the engines, with LCE2 before LCE10, so that their order does not depend on which
        // had the first turn.
        std::vector<Json> engines(summary["engines"].begin(), summary["engines"].end());
        std::ranges::stable_sort(engines, {}, [](const Json &engine) {
            const std::string name = engine["engine"];
            const std::size_t letters = name.find_last_not_of("0123456789") + 1;
            return std::tuple(engine["gpu"].get<std::uint32_t>(), name.substr(0, letters),
                              name.size(), name);
        });
        summary["engines"] = std::move(engines);
        totals_ = std::make_unique<Totals>();
        for (const auto &[gpu, reading] : clocks_)
            totals_->clock(gpu, reading);
        processes_.each([this](std::uint32_t gpu, const RecordedProcess &process) {
            totals_->process(gpu, process);
        });
        return summary;
    }

  private:
    std::unique_ptr<Totals> totals_ = std::make_unique<Totals>();
    RecordedProcesses processes_;
    std::map<std::uint32_t, ClockReading> clocks_; ///< the last reading of each GPU
};

/// The summary of one interval, for all GPUs.
struct Interval {
    Json summary;
    std::vector<nvdebug::Error> missing; ///< reasons why GPUs are missing from the summary
};

/// Runs the recorders of all GPUs, one interval after the other.
class Top {
  public:
    Top(Context &context, const Pace &plan)
        : context_(context), plan_(plan), chosen_(selection_of(context), nowhere_) {
        events_.add(intervals_);
        events_.add(chosen_);
    }

    Top(const Top &) = delete;
    Top &operator=(const Top &) = delete;
    ~Top() {
        if (!recorders_.silent().empty())
            context_.leave_behind();
    }

    Outcome<void> start(const std::vector<nvdebug::Gpu> &gpus) {
        recorders_.start(gpus, 1'000'000'000 / samples_per_second);
        if (auto gone = take_errors(); !gone)
            return gone;
        for (const std::string &note : recorders_.notes())
            context_.note(note);
        recorders_.begin();
        begin_ = Clock::now();
        next_sample_ = begin_;
        return take_errors();
    }

    /// Takes samples until the interval is complete, or until @p wait returns that top should end.
    /// @return whether the interval is complete
    template <typename Wait>
    Outcome<bool> go_on(Wait wait) {
        for (;;) {
            const auto now = Clock::now();
            if (now >= begin_ + plan_.interval)
                return true;
            if (now >= next_sample_) {
                recorders_.sample();
                recorders_.read_switches();
                if (auto gone = take_errors(); !gone)
                    return tl::unexpected(gone.error());
                next_sample_ =
                    std::max(next_sample_ + milliseconds(1000 / samples_per_second), Clock::now());
            }
            if (wait(std::chrono::ceil<milliseconds>(
                    std::max(Clock::duration(0),
                             std::min(next_sample_, begin_ + plan_.interval) - Clock::now()))))
                return false;
        }
    }

    Outcome<Interval> interval() {
        recorders_.split();
        if (auto gone = take_errors(); !gone)
            return tl::unexpected(gone.error());
        begin_ = Clock::now();
        number_++;
        Interval made{{}, gone_};
        std::ranges::move(recorders_.silent(), std::back_inserter(made.missing));
        const auto quiet = recorders_.quiet();
        made.summary = chosen_.cut(intervals_.next(format_utc(std::chrono::system_clock::now())));
        return made;
    }

    /// Returns why GPUs are not recorded any more.
    const std::vector<nvdebug::Error> &gone() const { return gone_; }
    milliseconds length() const { return plan_.interval; }
    bool is_last() const { return plan_.count && number_ >= *plan_.count; }

  private:
    /// Takes the recorders' errors. Fails once no GPU is left.
    Outcome<void> take_errors() {
        std::ranges::move(recorders_.take_errors(), std::back_inserter(gone_));
        if (recorders_.any_hangs())
            context_.leave_behind();
        if (!recorders_.empty())
            return {};
        return tl::unexpected(Failure(gone_.front()));
    }

    Context &context_;
    const Pace plan_;
    Intervals intervals_;
    Sink nowhere_;
    Chosen chosen_; ///< remembers which processes are chosen
    Tee events_;
    Recorders recorders_{events_};
    std::vector<nvdebug::Error> gone_;
    Clock::time_point begin_, next_sample_;
    std::uint64_t number_ = 0;
};

Json rows_of(const Json &summary) {
    Json rows = Json::array();
    for (Json &row : summary_rows(summary)) {
        Json timed = {{"time", summary["time"]}};
        timed.update(row);
        rows.push_back(std::move(timed));
    }
    return rows;
}

// --- the live view ---

/// Shows the live view until it ends.
/// @return the signal that ended it, or 0 if the user quit
Outcome<int> show(std::unique_ptr<Screen> screen, Top &top) {
    using Kind = Screen::Event::Kind;
    namespace base = nvdebug::base;
    // The view does not wait for names: the next interval has them.
    base::PodNameThread pods(*base::read_pod_folders(base::usual_pod_folders));
    std::optional<Interval> last;
    TopView view;
    std::optional<int> ended;
    const auto draw = [&] {
        if (last)
            screen->draw(view.lines(last->summary, sentences_of(last->missing), top.length(),
                                    screen->size()));
    };
    for (;;) {
        const auto time = top.go_on([&](milliseconds at_most) {
            const Screen::Event event = screen->wait(at_most);
            if (event.kind == Kind::hung_up ||
                (event.kind == Kind::signal && event.value == SIGINT) ||
                (event.kind == Kind::key && view.handle(event.value)))
                ended = 0;
            else if (event.kind == Kind::signal)
                ended = event.value;
            if (event.kind == Kind::key || event.kind == Kind::resized)
                draw();
            return ended.has_value();
        });
        if (!time)
            return tl::unexpected(time.error());
        if (!*time)
            return *ended;
        auto interval = top.interval();
        if (!interval)
            return tl::unexpected(interval.error());
        for (Json &engine : interval->summary["engines"])
            for (Json &holder : engine["holders"])
                set_pod_name(holder, pods.find(pod_ids_of(holder)));
        if (!view.paused() || !last)
            last = std::move(*interval);
        draw();
        if (top.is_last())
            return 0;
    }
}

Outcome<Exit> write_intervals(Context &context, Output &output, Top &top) {
    const Invocation &invocation = context.invocation();
    const bool csv = invocation.has("--csv");
    std::vector<std::string> columns = invocation.columns;
    if (columns.empty())
        for (const Column &column : context.command().columns)
            if (column.in_table || csv)
                columns.push_back(column.name);
    const bool are_chosen = csv || !invocation.columns.empty();
    bool shows_together = false;
    const auto new_writer = [&] {
        return RowWriter(
            {columns, csv, !invocation.has("--no-header"), use_color(context.value("--color"))});
    };
    RowWriter writer = new_writer();
    std::set<std::string> said;
    for (;;) {
        const auto time = top.go_on([](milliseconds at_most) {
            std::this_thread::sleep_for(at_most);
            return false;
        });
        if (!time)
            return tl::unexpected(time.error());
        const auto interval = top.interval();
        if (!interval)
            return tl::unexpected(interval.error());
        context.forget_missing();
        for (const nvdebug::Error &error : interval->missing)
            context.missing(error);
        const Json rows = rows_of(interval->summary);
        // The column begins with the first job on several GPUs, below a new header.
        if (!are_chosen && !shows_together && has_together(rows)) {
            columns.emplace_back("together_percent");
            writer = new_writer();
            shows_together = true;
        }
        const std::string text = invocation.json()
                                     ? to_text(envelope(context, interval->summary), false)
                                     : writer.text(rows);
        if (auto written = output.write(text); !written)
            return tl::unexpected(written.error());
        // The end may be far away, so each sentence is printed once, as soon as it is known.
        for (const std::string &sentence : sentences_of(context.missing()))
            if (said.insert(sentence).second)
                say(sentence);
        if (top.is_last()) {
            context.forget_missing();
            return said.empty() ? done : partial;
        }
    }
}

Outcome<void> check_top(const Context &context) {
    if (auto plan = top_pace(context); !plan)
        return tl::unexpected(plan.error());
    return check_selection_options(context);
}

Outcome<Exit> stream_top(Context &context, Output &output) {
    const auto gpus = context.gpus();
    if (!gpus)
        return tl::unexpected(gpus.error());
    if (source_kind(context.tree()) == "capture")
        return fail(nvdebug::ErrorCode::unsupported,
                    context.tree().path() +
                        " is a capture, which does not change: there is nothing to watch");
    Top top(context, *top_pace(context));
    if (auto started = top.start(*gpus); !started)
        return tl::unexpected(started.error());
    std::unique_ptr<Screen> screen = open_screen(context, "lines for each interval");
    if (!screen)
        return write_intervals(context, output, top);
    const auto signal = show(std::move(screen), top);
    if (!signal)
        return tl::unexpected(signal.error());
    for (const nvdebug::Error &error : top.gone())
        context.missing(error);
    return end_by_signal(*signal);
}

std::vector<Option> options() {
    return joined<Option>(
        {{"--count", "end after so many intervals", "COUNT", "-n"},
         {"--interval", "length of an interval, or with a unit, as 10s; default: 1000", "MS",
          "-s"}},
        selection_options());
}

std::vector<Column> top_columns() {
    return joined<Column>(
        {{"time", "when it began, or for an interval of top, when it ended; ISO 8601 in UTC",
          "time"}},
        summary_columns());
}

} // namespace

std::vector<Command> top_commands() {
    return {
        {.object = "top",
         .verb = "",
         .help = "which process has how much of the GPU: live on a terminal, else lines",
         .scope = Scope::gpus,
         .options = options(),
         .columns = top_columns(),
         .data = "the summary of one interval, as that of record",
         .fields = summary_fields(),
         .notes =
             {"Keys: q quit, h help, arrows PgUp PgDn Home End scroll, space pause, s next order.",
              "The figures are those of 'record', whose notes hold here: GR0 by the "
              "driver's record of context switches, other engines by 10 samples a second.",
              "With --container, --pod, --job, --cgroup, --command or --all-of only these "
              "processes are named; what is shown of engines is still that of all.",
              "A turn that goes on beyond an interval counts in each of them; its length is "
              "not among those of slices. TOGETHER is shown while there is a job on several GPUs: "
              "the part of its time on them in which all ran it at once. A low one means that it "
              "waits for its GPUs (docs/gangs.md)."},
         .examples = {{"sudo nvdebugctl top", "the live view"},
                      {"sudo nvdebugctl top -s 10000 -n 6 --csv > minute.csv",
                       "a minute, in intervals of 10 s"},
                      {"sudo nvdebugctl top --job 17", "what a Slurm job has"},
                      {"sudo nvdebugctl top -j -n 1 | jq '.data.engines[].holders[]'",
                       "the next second, for a program"}},
         .check = check_top,
         .stream = stream_top}};
}

} // namespace nvdebugctl
