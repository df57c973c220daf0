// SPDX-License-Identifier: MIT OR GPL-2.0
#include "recorders.hpp"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <iterator>

#include "nvdebug/product.hpp"

namespace nvdebugctl {

using std::chrono::milliseconds;

/// Passes on the events of one GPU, until it is closed.
class Recorders::Gate final : public Sink {
  public:
    Gate(std::shared_ptr<std::mutex> lock, Sink &to) : lock_(std::move(lock)), to_(&to) {}

    void close() {
        const std::scoped_lock held(*lock_);
        to_ = nullptr;
    }

    void clock(std::uint32_t gpu, const ClockReading &reading) override {
        pass([&](Sink &to) { to.clock(gpu, reading); });
    }
    void process(std::uint32_t gpu, const RecordedProcess &process) override {
        pass([&](Sink &to) { to.process(gpu, process); });
    }
    void turn(const Lane &lane, const nvdebug::Turn &turn,
              const RecordedProcess *process) override {
        pass([&](Sink &to) { to.turn(lane, turn, process); });
    }
    void lost(const Lane &lane, std::uint64_t ns, std::uint64_t count) override {
        pass([&](Sink &to) { to.lost(lane, ns, count); });
    }
    void mark(const Mark &mark) override {
        pass([&](Sink &to) { to.mark(mark); });
    }
    using Sink::end;
    void end(const Lane &lane, const LaneEnd &end) override {
        pass([&](Sink &to) { to.end(lane, end); });
    }

  private:
    template <typename Do>
    void pass(Do what) {
        const std::scoped_lock held(*lock_);
        if (to_)
            what(*to_);
    }

    const std::shared_ptr<std::mutex> lock_; // shared by all GPUs
    Sink *to_;
};

namespace {

/// The result of starting a recorder on its GPU's thread.
struct Started {
    Outcome<std::unique_ptr<Recorder>> recorder;
    std::vector<std::string> notes;
    RecordedGpu gpu;
};

/// The time for which a call waits for a GPU before it goes on with the others.
constexpr milliseconds patience{200}, patience_of_interval{500};

} // namespace

template <typename Call>
auto Recorders::call(One &one, Call what) -> std::future<std::invoke_result_t<Call>> {
    if (one.caller)
        return one.caller->call(std::move(what));
    std::packaged_task<std::invoke_result_t<Call>()> task(std::move(what));
    auto answer = task.get_future();
    task();
    return answer;
}

Recorders::~Recorders() {
    for (One &one : ones_)
        if (!settle(one, Clock::now() + patience))
            leave(one);
}

void Recorders::start(const std::vector<nvdebug::Gpu> &gpus, std::uint64_t period_ns) {
    for (const nvdebug::Gpu &gpu : gpus) {
        One one{gpu, std::make_shared<Gate>(lock_, sink_)};
        if (gpus.size() > 1)
            one.caller.emplace();
        ones_.push_back(std::move(one));
    }
    const auto until = Clock::now() + deadline_;
    std::vector<std::future<Started>> answers;
    for (One &one : ones_)
        answers.push_back(call(one, [gpu = one.gpu, gate = one.gate, period_ns] {
            std::vector<std::string> notes;
            const auto info = gpu.info();
            auto recorder = Recorder::start(gpu, period_ns, *gate, notes);
            RecordedGpu recorded{gpu.index(), {}, {}};
            if (info)
                recorded = {gpu.index(), info->chip, info->pci_address,
                            nvdebug::product_of(gpu.tree(), *info).name};
            return Started{std::move(recorder), std::move(notes), std::move(recorded)};
        }));
    for (std::size_t n = 0; n < ones_.size(); n++) {
        One &one = ones_[n];
        if (answers[n].wait_until(until) != std::future_status::ready) {
            leave(one);
            continue;
        }
        Started started = answers[n].get();
        if (!started.recorder) {
            errors_.push_back(started.recorder.error().error);
            continue;
        }
        one.recorder = std::move(*started.recorder);
        gpus_.push_back(std::move(started.gpu));
        std::ranges::move(started.notes, std::back_inserter(notes_));
    }
    drop_ended();
}

bool Recorders::has_samples() const {
    return std::ranges::any_of(ones_, [](const One &one) { return one.recorder->has_samples(); });
}

void Recorders::leave(One &one) {
    errors_.push_back(no_answer(one.gpu, deadline_));
    hangs_ = true;
    one.gate->close();
    one.caller->leave();
    if (one.recorder)
        ended_.push_back(std::move(one.recorder));
    one.answer = {};
}

bool Recorders::settle(One &one, Clock::time_point until) {
    if (!one.answer.valid())
        return true;
    if (one.answer.wait_until(until) != std::future_status::ready)
        return false;
    if (const Done done = one.answer.get(); !done) {
        errors_.push_back(done.error());
        ended_.push_back(std::move(one.recorder));
    }
    return true;
}

void Recorders::drop_ended() {
    std::erase_if(ones_, [](const One &one) { return !one.recorder; });
}

void Recorders::each(milliseconds patience, const std::function<Done(Recorder &)> &what) {
    for (One &one : ones_) {
        const auto now = Clock::now();
        if (!settle(one, now)) {
            if (now - one.since >= deadline_)
                leave(one);
            continue;
        }
        if (!one.recorder)
            continue;
        one.since = now;
        one.answer = call(one, [what, recorder = one.recorder, gate = one.gate,
                                pending = std::exchange(one.pending, {})] {
            for (const auto &before : pending)
                before(*recorder);
            const Done done = what(*recorder);
            if (!done)
                recorder->end();
            return done;
        });
    }
    const auto until = Clock::now() + patience;
    for (One &one : ones_)
        settle(one, until);
    drop_ended();
}

void Recorders::begin() {
    each(deadline_, [](Recorder &recorder) {
        recorder.begin();
        return Done();
    });
}

void Recorders::sample() {
    for (One &one : ones_)
        if (!settle(one, Clock::now()))
            one.pending.emplace_back([](Recorder &recorder) { recorder.miss(1); });
    drop_ended();
    each(patience, [](Recorder &recorder) { return recorder.sample(); });
}

void Recorders::miss(std::uint64_t samples) {
    for (One &one : ones_)
        one.pending.emplace_back([samples](Recorder &recorder) { recorder.miss(samples); });
}

void Recorders::read_switches() {
    each(patience, [](Recorder &recorder) { return recorder.read_switches(); });
}

void Recorders::look_for_processes() {
    each(patience, [](Recorder &recorder) {
        recorder.look_for_processes();
        recorder.note_clocks();
        return Done();
    });
}

void Recorders::split() {
    each(patience_of_interval, [](Recorder &recorder) {
        recorder.look_for_processes();
        return recorder.split();
    });
}

void Recorders::end() {
    // A busy GPU may still answer before the deadline.
    const auto until = Clock::now() + deadline_;
    for (One &one : ones_)
        if (!settle(one, until))
            leave(one);
    each(deadline_, [](Recorder &recorder) {
        const Done done = recorder.read_switches();
        if (done)
            recorder.end();
        return done;
    });
    for (One &one : ones_)
        if (one.answer.valid())
            leave(one);
    drop_ended();
}

void Recorders::mark(const std::string &gpu, std::uint64_t monotonic_ns, std::uint32_t pid,
                     const std::string &text) {
    for (One &one : ones_)
        if (one.gpu.folder() == gpu)
            one.pending.push_back(
                [=](Recorder &recorder) { recorder.mark(monotonic_ns, pid, text); });
}

std::vector<nvdebug::Error> Recorders::silent() const {
    std::vector<nvdebug::Error> errors;
    for (const One &one : ones_)
        if (one.answer.valid())
            errors.push_back({nvdebug::ErrorCode::timeout, ETIMEDOUT, one.gpu.path("engines"),
                              fmt::format("gpu{} does not answer at the moment, and what it does "
                                          "is not shown",
                                          one.gpu.index())});
    return errors;
}

} // namespace nvdebugctl
