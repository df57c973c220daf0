// SPDX-License-Identifier: MIT OR GPL-2.0
#include "aligned.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/page.hpp"
#include "lib/base/quantity.hpp"
#include "lib/drawing/perfetto.hpp"
#include "recorded_identity.hpp"

namespace nvdebugctl {
namespace {

using drawing::ClockNote;
using drawing::Json;
using nvdebug::ClockFit;
using nvdebug::Turn;
using nvdebug::base::short_time;

std::string shown_drift(double ns_per_s) {
    return short_time(std::llround(ns_per_s), " ") + " a second";
}

class Aligned final : public TextSink {
  public:
    explicit Aligned(std::size_t most_pending)
        : most_pending_(most_pending),
          trace_(make_perfetto(drawing::TraceClock::boottime, [](const RecordedProcess &process) {
              return shown_home(recorded_identity(process));
          })) {}

    void head(const RecordingHead &head) override {
        trace_->head(head);
        take();
    }

    void clock(std::uint32_t gpu, const ClockReading &reading) override {
        Clock &mine = clocks_[gpu];
        trace_->clock(gpu, reading);
        if (!mine.keeps_its_times) {
            learn_offset(reading);
            mine.error.add({reading.gpu_ns, reading.monotonic_ns, reading.within_ns});
            mine.map.add(reading.gpu_ns, reading.monotonic_ns);
            note_interval(gpu, mine, reading);
            release(mine);
        }
        take();
    }

    void process(std::uint32_t gpu, const RecordedProcess &process) override {
        trace_->process(gpu, process);
    }

    void turn(const Lane &lane, const Turn &turn, const RecordedProcess *process) override {
        pass(lane.gpu, [this, &lane, turn, process](const Clock &clock) {
            Turn moved = turn;
            moved.begin_ns = boottime(clock, turn.begin_ns);
            moved.end_ns = boottime(clock, turn.end_ns);
            trace_->turn(lane, moved, process);
        });
    }

    void lost(const Lane &lane, std::uint64_t ns, std::uint64_t count) override {
        pass(lane.gpu, [this, &lane, ns, count](const Clock &clock) {
            trace_->lost(lane, boottime(clock, ns), count);
        });
    }

    void mark(const Mark &mark) override {
        pass(mark.gpu, [this, mark](const Clock &clock) {
            Mark moved = mark;
            moved.ns = boottime(clock, mark.ns);
            trace_->mark(moved);
        });
    }

    /// Times of launches are CLOCK_BOOTTIME's already.
    void launch(const drawing::Launch &launch) override {
        trace_->launch(launch);
        take();
    }

    using Sink::end;
    void end(const Json &summary) override {
        for (auto &[gpu, clock] : clocks_) {
            release(clock);
            note_error(gpu, clock);
        }
        trace_->end(summary);
        take();
    }

  private:
    /// The clock of a GPU, and the events since its last reading.
    struct Clock {
        nvdebug::ClockMap map;
        nvdebug::ClockError error;
        std::optional<ClockReading> last;
        std::vector<std::function<void(const Clock &)>> pending;
        bool keeps_its_times = false;
        bool was_full = false; ///< events were released before their next reading
    };

    void pass(std::uint32_t gpu, std::function<void(const Clock &)> write) {
        Clock &clock = clocks_[gpu];
        clock.keeps_its_times = clock.keeps_its_times || !clock.last;
        clock.pending.push_back(std::move(write));
        if (clock.keeps_its_times)
            return release(clock);
        if (clock.pending.size() < most_pending_)
            return;
        clock.was_full = true;
        release(clock);
    }

    void release(Clock &clock) {
        for (const auto &write : clock.pending)
            write(clock);
        clock.pending.clear();
        take();
    }

    /// Learns by how much CLOCK_BOOTTIME is ahead of CLOCK_MONOTONIC. This changes only while the
    /// machine sleeps, so smaller differences are errors of readings, which GPUs should not differ by.
    void learn_offset(const ClockReading &reading) {
        constexpr std::uint64_t sleep = 1'000'000;
        const std::uint64_t now = reading.boottime_ns - reading.monotonic_ns;
        if (!offset_ || now - *offset_ + sleep > 2 * sleep)
            offset_ = now;
    }

    std::uint64_t boottime(const Clock &clock, std::uint64_t gpu_ns) const {
        const auto monotonic =
            clock.keeps_its_times ? std::nullopt : clock.map.monotonic_ns(gpu_ns);
        return monotonic ? *monotonic + offset_.value_or(0) : gpu_ns;
    }

    void note_interval(std::uint32_t gpu, Clock &clock, const ClockReading &reading) {
        const std::optional<ClockReading> before = std::exchange(clock.last, reading);
        if (!before || reading.gpu_ns <= before->gpu_ns ||
            reading.monotonic_ns <= before->monotonic_ns)
            return;
        const auto by_gpu = static_cast<double>(reading.gpu_ns - before->gpu_ns),
                   by_machine = static_cast<double>(reading.monotonic_ns - before->monotonic_ns);
        const double drift = (by_machine - by_gpu) / by_gpu * 1e9;
        const std::uint64_t within = std::max(reading.within_ns, before->within_ns);
        trace_->note(
            {gpu,
             boottime(clock, before->gpu_ns),
             boottime(clock, reading.gpu_ns),
             fmt::format("read within {}, drift {}",
                         short_time(static_cast<std::int64_t>(within), " "), shown_drift(drift)),
             {{"within_ns", static_cast<std::int64_t>(within)},
              {"drift_ns_per_s", std::llround(drift)}}});
    }

    void note_error(std::uint32_t gpu, const Clock &clock) {
        if (!clock.last)
            return;
        ClockFit fit = clock.error.fit();
        if (clock.was_full)
            fit.drift_ns_per_s.reset();
        const std::uint64_t at = boottime(clock, clock.last->gpu_ns);
        ClockNote note{gpu, at, at, sentence_of(gpu, fit), {}};
        if (const auto error = fit.error_ns())
            note.facts.emplace_back("error_ns", static_cast<std::int64_t>(*error));
        trace_->note(note);
    }

    /// Takes over what the trace has written.
    void take() {
        text_ += trace_->text();
        trace_->text().clear();
    }

    const std::size_t most_pending_;
    const std::unique_ptr<drawing::TraceSink> trace_;
    std::map<std::uint32_t, Clock> clocks_;
    std::optional<std::uint64_t> offset_;
};

} // namespace

std::unique_ptr<TextSink> make_aligned(std::size_t most_pending) {
    return std::make_unique<Aligned>(most_pending);
}

std::string sentence_of(std::uint32_t gpu, const ClockFit &fit) {
    const auto error = fit.error_ns();
    if (!error)
        return fmt::format("how far times of gpu{} are from the machine's clock is not known", gpu);
    return fmt::format("times of gpu{} are within {} of the machine's clock{}, drift {}", gpu,
                       short_time(static_cast<std::int64_t>(*error), " "),
                       fit.uneven_ns ? "" : " if its clock went evenly",
                       shown_drift(*fit.drift_ns_per_s));
}

} // namespace nvdebugctl
