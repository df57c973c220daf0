// SPDX-License-Identifier: MIT OR GPL-2.0
#include "demo.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "demo_machine.hpp"
#include "display.hpp"
#include "lib/base/ending_signals.hpp"
#include "lib/cli/message.hpp"
#include "refusal.hpp"
#include "tools/nvqos/serve/held_tenants.hpp"

namespace nvqos {
namespace {

using qos::Ns;

constexpr const char *demo_sentence = "SIMULATION: no GPU is used";

/// Lets simulated time pass as fast as real time, and shows each epoch.
class Demo {
  public:
    Demo(const Invocation &invocation, DemoMachine &machine, int signals)
        : invocation_(invocation), machine_(machine), signals_(signals) {}

    Outcome<Exit> run(bool has_view) {
        if (has_view)
            display_.open();
        else if (invocation_.json)
            warn(demo_sentence);
        for (const std::string &sentence : conditions_of(invocation_.goals))
            display_.messages()->say(sentence);
        for (Ns last = monotonic_now();;) {
            // A demo that was suspended goes on where it was.
            const Ns now = monotonic_now(), passed = std::min(now - last, qos::second);
            last = now;
            if (auto shown = pass(passed); !shown)
                return tl::unexpected(shown.error());
            if (is_unread_ || has_ended() || wait_for_end())
                return end();
        }
    }

  private:
    bool has_ended() const { return invocation_.length && now_ >= *invocation_.length; }

    /// Lets time pass. The table is shown at whole intervals of simulated time.
    Outcome<void> pass(Ns time) {
        const Ns end = std::min(now_ + time, invocation_.length.value_or(longest_time));
        while (now_ < end) {
            now_ = std::min(end, shown_at_ + invocation_.interval);
            for (Report &report : machine_.run_until(now_)) {
                last_ = std::move(report);
                if (auto written = write_line(); !written)
                    return written;
            }
            if (now_ < shown_at_ + invocation_.interval)
                continue;
            shown_at_ = now_;
            if (auto shown = show(); !shown)
                return shown;
        }
        return {};
    }

    /// Writes to stdout. A reader that has ended, as head does, ends the demo.
    Outcome<void> write(const std::string &text) {
        const int error = nvdebug::cli::write_out(text);
        is_unread_ = error == EPIPE;
        if (error && !is_unread_)
            return fail(failed, std::string("cannot write to stdout: ") + std::strerror(error));
        return {};
    }

    /// Writes the last report with --json, unless the reader is slow.
    Outcome<void> write_line() {
        if (!invocation_.json || is_unread_)
            return {};
        if (is_ready(STDOUT_FILENO))
            return write(json_line(*last_, invocation_.goals.settings, utc_now(), left_out_));
        left_out_++;
        return {};
    }

    Outcome<void> show() {
        if (invocation_.json || !last_)
            return {};
        const qos::Settings &settings = invocation_.goals.settings;
        Shown shown{fmt::format("{}  {}  {}, epochs of {:g} ms", demo_sentence, utc_now(),
                                text_of(settings.scheme), qos::milliseconds(settings.epoch)),
                    {epoch_json(*last_, settings, "", 0)},
                    notes_on({{0, *last_}}, {})};
        shown.notes.push_back(machine_.progress());
        if (display_.is_open())
            display_.draw(std::move(shown));
        else if (is_ready(STDOUT_FILENO))
            return write(text_of(shown, width_of_stdout()) + "\n");
        return {};
    }

    /// Waits for a moment. Returns whether a signal or a key ends the demo.
    bool wait_for_end() {
        std::vector<pollfd> awaited{{signals_, POLLIN, 0}};
        display_.add_to(awaited);
        const Ns left = shown_at_ + invocation_.interval - now_;
        const auto wait = std::clamp(left, 1 * qos::ms, 100 * qos::ms) / qos::ms;
        static_cast<void>(::poll(awaited.data(), awaited.size(), static_cast<int>(wait)));
        signalfd_siginfo signal{};
        return ::read(signals_, &signal, sizeof(signal)) == sizeof(signal) ||
               display_.take_events() != 0;
    }

    /// Leaves the last table behind the view, and warns of each goal that was not kept.
    Outcome<Exit> end() {
        if (display_.is_open()) {
            display_.close();
            if (auto shown = show(); !shown)
                return tl::unexpected(shown.error());
        }
        Exit status = done;
        for (const Missed &one : machine_.missed()) {
            if (one.epochs == 0)
                continue;
            warn(text_of(one));
            status = partial;
        }
        return status;
    }

    const Invocation &invocation_;
    DemoMachine &machine_;
    const int signals_;
    Display display_;
    Ns now_ = 0, shown_at_ = 0;  ///< in simulated time
    std::uint64_t left_out_ = 0; ///< lines of JSON that were not written
    bool is_unread_ = false;     ///< the reader of stdout has ended
    std::optional<Report> last_; ///< of the last epoch; empty: no epoch has ended
};

} // namespace

Outcome<Exit> demonstrate(const Invocation &invocation) {
    const auto machine = DemoMachine::make(invocation.goals);
    if (!machine)
        return tl::unexpected(machine.error());
    const bool has_view = !invocation.json && Display::is_possible();
    const sigset_t set = nvdebug::base::ending_signals({SIGQUIT}),
                   of_screen = nvdebug::live::Screen::signals();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    if (has_view)
        pthread_sigmask(SIG_BLOCK, &of_screen, nullptr);
    const int signals = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0)
        return fail(failed,
                    std::string("signals cannot be waited for: ") + ::strerrordesc_np(errno));
    const auto status = Demo(invocation, **machine, signals).run(has_view);
    ::close(signals);
    return status;
}

} // namespace nvqos
