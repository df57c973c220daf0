// SPDX-License-Identifier: MIT OR GPL-2.0
// `record`.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <thread>
#include <unistd.h>

#include "chosen.hpp"
#include "cli/context.hpp"
#include "cli/joined.hpp"
#include "cli/json.hpp"
#include "cli/page.hpp"
#include "cli/text.hpp"
#include "destination.hpp"
#include "kernels.hpp"
#include "lib/base/ending_signals.hpp"
#include "lib/base/marks.hpp"
#include "record.hpp"
#include "recorders.hpp"
#include "summary.hpp"
#include "task/select.hpp"
#include "tee.hpp"
#include "totals.hpp"

namespace nvdebugctl {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// Turns SIGINT and other ending signals into a descriptor that can be polled, so that the
/// recording is completed before the program ends.
class EndingSignals {
  public:
    EndingSignals() {
        const sigset_t set = nvdebug::base::ending_signals({SIGQUIT});
        sigprocmask(SIG_BLOCK, &set, &before_);
        descriptor_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    }
    EndingSignals(const EndingSignals &) = delete;
    EndingSignals &operator=(const EndingSignals &) = delete;
    ~EndingSignals() {
        sigprocmask(SIG_SETMASK, &before_, nullptr);
        close(descriptor_);
    }
    int descriptor() const { return descriptor_; }
    /// Returns whether a signal came.
    bool came() const {
        signalfd_siginfo info;
        return read(descriptor_, &info, sizeof info) == sizeof info;
    }

  private:
    sigset_t before_{};
    int descriptor_;
};

/// Returns the processor time of this process, with its system calls.
double processor_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval &time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// --- recording ---

struct RecordPlan {
    std::optional<nanoseconds> length; ///< empty: until a signal comes
    nanoseconds period{};              ///< between samples; 0: no samples
};

constexpr unsigned highest_rate = 100'000;

Outcome<RecordPlan> plan_of(const Context &context) {
    RecordPlan plan{std::nullopt, nanoseconds(1'000'000'000 / Recorder::default_rate)};
    if (const auto text = context.value("--for")) {
        // A number without a unit means seconds, as for controls.
        const auto ns = nvdebug::base::take_time_ns("--for", *text, {.least = 1, .bare = "s"});
        if (!ns)
            return usage(ns.error());
        plan.length = nanoseconds(*ns);
    }
    if (const auto text = context.value("--rate")) {
        const auto rate = parse_id(*text);
        if (!rate || *rate > highest_rate)
            return usage(
                fmt::format("--rate {}: samples a second are 0 (none) to {}", *text, highest_rate));
        plan.period = nanoseconds(*rate ? 1'000'000'000 / *rate : 0);
    }
    return plan;
}

Outcome<void> check_record(const Context &context) {
    if (auto plan = plan_of(context); !plan)
        return tl::unexpected(plan.error());
    if (auto form = form_of(context); !form)
        return tl::unexpected(form.error());
    if (auto kernels = check_kernels(context); !kernels)
        return tl::unexpected(kernels.error());
    return check_selection_options(context);
}

/// Shows on a terminal how long the recording has run, in a line on stderr that changes.
class Progress {
  public:
    Progress() : wanted_(isatty(STDERR_FILENO) == 1) {}

    void show(Clock::duration since, std::uint64_t turns) {
        const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
        if (!wanted_ || seconds == shown_)
            return;
        shown_ = seconds;
        write(fmt::format("\rrecording: {} s, {} (Ctrl-C ends it)", seconds.count(),
                          count_of(turns, "turn")));
    }
    /// Clears the line, so that other output can use it.
    void clear() {
        if (length_)
            write("\r" + std::string(length_, ' ') + "\r");
    }

  private:
    void write(const std::string &text) {
        length_ = text.size();
        static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
    }

    const bool wanted_;
    std::chrono::seconds shown_{-1};
    std::size_t length_ = 0;
};

/// Decides when the recorders of all GPUs read, and writes what they found.
class Recording {
  public:
    Recording(const RecordPlan &plan, Recorders &recorders, const Totals &totals,
              Destination *destination)
        : plan_(plan), recorders_(recorders), totals_(totals), destination_(destination) {}

    /// Records until the time is over, a signal comes, or nothing can be recorded or written any
    /// more. Then the recorders' take_errors(), or broken(), has the reason.
    void run() {
        recorders_.begin();
        const EndingSignals signals;
        const Clock::time_point begin = Clock::now();
        const double spent = processor_seconds();
        next_sample_ = next_read_ = begin;
        next_look_ = begin + look_every;
        write();
        for (;;) {
            const Clock::time_point now = Clock::now();
            progress_.show(now - begin, turns());
            if ((plan_.length && now - begin >= *plan_.length) || recorders_.empty() || broken_)
                break;
            work(now);
            Clock::time_point until = std::min(next_read_, next_look_);
            if (samples())
                until = std::min(until, next_sample_);
            if (plan_.length)
                until = std::min(
                    until, begin + std::chrono::duration_cast<Clock::duration>(*plan_.length));
            if (wait(signals, until))
                break;
        }
        progress_.clear();
        take_marks();
        recorders_.end();
        write();
        cost_ = (processor_seconds() - spent) /
                std::chrono::duration<double>(Clock::now() - begin).count();
    }

    /// Returns the part of a core that recording took, without opening GPUs and finding processes.
    double cost() const { return cost_; }

    void write() {
        if (!destination_ || broken_)
            return;
        const auto quiet = recorders_.quiet();
        if (auto done = destination_->file.write(destination_->sink->text()); !done)
            broken_ = done.error();
    }
    /// Completes the file after the last write().
    void finish() {
        if (!destination_ || broken_)
            return;
        if (auto done = destination_->file.finish(); !done)
            broken_ = done.error();
    }

    /// Returns the number of messages from other users, which are thrown away.
    std::uint64_t refused() const { return mark_socket_.refused(); }

    /// Returns why the recording could not be written to its end.
    const std::optional<Failure> &broken() const { return broken_; }

  private:
    static constexpr milliseconds look_every{1000};
    /// The driver keeps 65,535 records, which are filled in 3 s at 10,000 switches a second. Several
    /// GPUs are read less often, because a read also costs something if there was no switch.
    milliseconds read_every() const {
        return milliseconds(100 * std::clamp<std::size_t>(recorders_.gpus().size(), 1, 4));
    }

    bool samples() const { return plan_.period.count() > 0 && recorders_.has_samples(); }

    std::uint64_t turns() const {
        const auto quiet = recorders_.quiet();
        return totals_.turns();
    }

    void work(Clock::time_point now) {
        if (samples() && now >= next_sample_) {
            recorders_.sample();
            next_sample_ += plan_.period;
            const auto late = (Clock::now() - next_sample_) / plan_.period;
            if (late > 0) {
                recorders_.miss(static_cast<std::uint64_t>(late));
                next_sample_ += late * plan_.period;
            }
        }
        if (now >= next_read_) {
            recorders_.read_switches();
            take_marks();
            write();
            next_read_ = now + read_every();
        }
        if (now >= next_look_) {
            recorders_.look_for_processes();
            next_look_ = now + look_every;
        }
    }

    void take_marks() {
        for (const nvdebug::base::ReceivedMark &mark : mark_socket_.take())
            recorders_.mark(mark.gpu, mark.monotonic_ns, mark.pid, mark.text);
    }

    /// Waits, and takes marks meanwhile.
    /// @return whether a signal came
    bool wait(const EndingSignals &signals, Clock::time_point until) {
        const nanoseconds left = std::max(nanoseconds(0), nanoseconds(until - Clock::now()));
        const timespec time{static_cast<time_t>(left.count() / 1'000'000'000),
                            static_cast<long>(left.count() % 1'000'000'000)};
        pollfd files[] = {{signals.descriptor(), POLLIN, 0},
                          {mark_socket_.descriptor(), POLLIN, 0}};
        if (ppoll(files, 2, &time, nullptr) > 0) {
            take_marks();
            return signals.came();
        }
        return false;
    }

    const RecordPlan plan_;
    Recorders &recorders_;
    const Totals &totals_;
    Destination *destination_;
    Progress progress_;
    nvdebug::base::MarkSocket mark_socket_;
    Clock::time_point next_sample_, next_read_, next_look_;
    double cost_ = 0;
    std::optional<Failure> broken_;
};

Outcome<Document> record(Context &context) {
    RecordPlan plan = *plan_of(context);
    const auto gpus = context.gpus();
    if (!gpus)
        return tl::unexpected(gpus.error());
    // A sample is the driver's slowest answer to a recorder. Several GPUs share the default rate, so
    // that eight of them take less than 2 % of a core. The module shows GR0 by samples alone.
    if (!context.value("--rate") && source_kind(context.tree()) == "driver")
        plan.period *= gpus->size();
    if (source_kind(context.tree()) == "capture")
        return fail(nvdebug::ErrorCode::unsupported,
                    context.tree().path() +
                        " is a capture, which does not change, and so cannot be recorded; "
                        "'nvdebugctl recording show' shows a recording");

    Tee tee;
    Totals totals;
    tee.add(totals);
    Recorders recorders(tee);
    recorders.start(*gpus, static_cast<std::uint64_t>(plan.period.count()));
    std::vector<nvdebug::Error> errors = recorders.take_errors();
    if (recorders.empty())
        return tl::unexpected(Failure(std::move(errors.front())));
    for (nvdebug::Error &error : errors)
        context.missing(std::move(error));
    for (const std::string &note : recorders.notes())
        context.note(note);
    // The file is opened only now, so that an earlier failure leaves an existing file of that name
    // unchanged.
    auto destination = open_destination(context, RecordingFile::Appears::at_once);
    if (!destination)
        return tl::unexpected(destination.error());
    // Chosen remembers the chosen processes for the summary, also if no file is written.
    Sink nowhere;
    Chosen chosen(selection_of(context), *destination ? *(*destination)->sink : nowhere);
    tee.add(chosen);
    recording::TimeSpan time;
    tee.add(time);

    tee.head({format_utc(std::chrono::system_clock::now()), source_kind(context.tree()),
              static_cast<std::uint64_t>(plan.period.count()), recorders.gpus()});
    Recording recording(plan, recorders, totals, *destination ? &**destination : nullptr);
    recording.run();
    if (recorders.any_hangs())
        context.leave_behind();
    // Programs write their launches each 50 ms.
    if (context.value("--kernels"))
        std::this_thread::sleep_for(milliseconds(100));
    // The recording is kept, whatever the files of launches are.
    if (const auto added = add_launches(context, time, tee); !added)
        context.missing(added.error().error);
    const Json summary = chosen.cut(totals.summary(recording.cost()));
    tee.end(summary);
    recording.write();
    recording.finish();

    Document document = summary_document(context, summary, *destination ? &**destination : nullptr);
    if (recording.refused())
        context.note(fmt::format(
            "{} of other users arrived among the marks of controls; some marks may be lost",
            count_of(recording.refused(), "message")));
    for (nvdebug::Error &why : recorders.take_errors()) {
        why.sentence = "recording ended early: " + why.sentence;
        context.missing(std::move(why));
    }
    if (recording.broken()) {
        document.exit = failed;
        const nvdebug::Error &error = recording.broken()->error;
        if (error.number == EPIPE)
            document.print = [](Page &) {};
        else
            context.note(error.sentence + "; the part written before can be read");
        if (!context.flag("--summary"))
            document.print = [](Page &) {};
    }
    return document;
}

} // namespace

std::vector<Command> record_commands() {
    return {
        {.object = "record",
         .verb = "",
         .help = "record which process has the GPU when, until interrupted (Ctrl-C)",
         .scope = Scope::gpus,
         .options = joined(
             {{"--for",
               "end after so many seconds, or with a unit, as 500ms, 10m or 1h; default: when "
               "interrupted",
               "TIME"},
              {"--rate",
               fmt::format("samples a second of engines whose switches the driver does not record; "
                           "0: none; "
                           "default: {}, which several GPUs share through NVIDIA's driver",
                           Recorder::default_rate),
               "NUMBER"}},
             joined(selection_options(), joined(form_options(), kernels_options()))),
         .columns = summary_columns(),
         .data = "the summary",
         .fields = summary_fields(),
         .means = Command::Means::either,
         .notes =
             {"Through NVIDIA's driver switches of GR0 are recorded to the nanosecond: those of "
              "own processes for any user, all for root. Other engines, and everything through the "
              "module, are sampled, for which it takes root.",
              "A process has GR0 from one switch to the next, also while it has no work; on a "
              "sampled engine only what works counts.",
              "What was lost is counted: switches that the driver dropped, samples that were not "
              "taken in time. Turns are cut there.",
              "With --container, --pod, --job, --cgroup, --command or --all-of the file has only "
              "the "
              "turns of these processes, and the summary names only them; what it has of engines "
              "is still that of all.",
              "Controls of nvdebugctl and goals of nvqos, by root or the same user, are marked.",
              "The file is readable for its owner only: it names processes."},
         .examples = {{"sudo nvdebugctl record --for 10s",
                       "the share and the turns of each process"},
                      {"sudo nvdebugctl record --for 10s -o trace.pftrace",
                       "for ui.perfetto.dev, which reads it on your machine"},
                      {"sudo nvdebugctl record --for 10s -o trace.pftrace --kernels run",
                       "with the kernels of 'nvtaskset --kernels run COMMAND'"},
                      {"sudo nvdebugctl record --job 17 --for 10s", "what a Slurm job had"},
                      {"nvdebugctl record -o - | jq -c 'select(.kind == \"turn\")'",
                       "for a program"}},
         .check = check_record,
         .run = record,
         .text = show_summary},
    };
}

} // namespace nvdebugctl
