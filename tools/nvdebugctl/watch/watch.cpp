// SPDX-License-Identifier: MIT OR GPL-2.0
#include "watch/watch.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <thread>
#include <unistd.h>

#include "json_envelope.hpp"
#include "watch/json.hpp"
#include "watch/screen.hpp"

namespace nvdebugctl {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t list_pace = 10;
constexpr std::size_t window = 120;

bool is_capture(const Context &context) {
    return !context.tree().facts().empty();
}

/** Nothing moves there. Somebody may fill a folder: who says how often to look, gets that. */
bool is_still(const Context &context) {
    const bool asked = context.value("--count") || context.value("--interval");
    return is_capture(context) || (!context.tree().live() && !asked);
}

/** The sampler with all that is made of its samples. */
class Watch {
  public:
    Watch(Context &context, const WatchPlan &plan)
        : context_(context), plan_(plan), sampler_(context.gpu(), list_pace), residency_(window) {}

    /** Fails if nothing was readable from the beginning. */
    Outcome<void> take() {
        sample_ = sampler_.take();
        residency_.add(*sample_);
        context_.forget_missing();
        for (nvdebug::Error &error : errors_of(*sample_))
            context_.missing(std::move(error));
        if (!sample_->engines && sample_->number == 1)
            return tl::unexpected(Failure(sample_->engines.error()));
        next_ = Clock::now() + plan_.interval;
        return {};
    }

    bool is_last() const { return sample_->number == plan_.count; }

    std::chrono::milliseconds until_next() const {
        using std::chrono::milliseconds;
        return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(next_ - Clock::now()));
    }

    Json document() const {
        return envelope(context_, watch_json(*sample_, residency_, plan_.interval));
    }

    std::vector<ViewLine> lines(const ViewSettings &settings) const {
        return view_lines({name(), source(), *sample_, residency_, plan_.interval}, settings);
    }

  private:
    std::string name() const {
        const auto info = context_.gpu().info();
        if (!info)
            return context_.gpu().folder();
        return fmt::format("{}  {}  {}", context_.gpu().folder(), info->chip.value_or("unknown"),
                           info->pci_address.value_or("not on PCI"));
    }

    std::string source() const {
        if (is_still(context_))
            return is_capture(context_) ? "a capture, so one sample only"
                                        : context_.tree().path() + ", one sample";
        return context_.tree().live() ? "live" : context_.tree().path();
    }

    Context &context_;
    const WatchPlan plan_;
    Sampler sampler_;
    Residency residency_;
    std::optional<Sample> sample_;
    Clock::time_point next_;
};

Outcome<Exit> write_lines(Context &context, Output &output, Watch &watch) {
    for (;;) {
        if (auto taken = watch.take(); !taken)
            return tl::unexpected(taken.error());
        if (auto written = output.write(to_text(watch.document(), false)); !written)
            return tl::unexpected(written.error());
        if (watch.is_last() || is_still(context))
            return done;
        std::this_thread::sleep_for(watch.until_next());
    }
}

/** @return true: the view is to end. */
bool obey(int key, ViewSettings &settings) {
    switch (key) {
    case 'q':
        return true;
    case 'h':
        settings.help = !settings.help;
        break;
    case 'e':
        settings.folded = !settings.folded;
        break;
    case 's':
        settings.cycle_order();
        break;
    case ' ':
        settings.paused = !settings.paused;
        break;
    default:
        break;
    }
    return false;
}

/** @return the signal that ended it, 0 for a wish of the user. */
Outcome<int> show(Screen &screen, Watch &watch, bool still) {
    constexpr std::chrono::milliseconds idle{60 * 1000};
    ViewSettings settings;
    if (auto taken = watch.take(); !taken)
        return tl::unexpected(taken.error());
    for (;;) {
        screen.draw(watch.lines(settings));
        const bool sampling = !settings.paused && !still;
        const Screen::Event event = screen.wait(sampling ? watch.until_next() : idle);
        using Kind = Screen::Event::Kind;
        if (event.kind == Kind::hung_up || (event.kind == Kind::signal && event.value == SIGINT))
            return 0;
        if (event.kind == Kind::signal)
            return event.value;
        if (event.kind == Kind::key && obey(event.value, settings))
            return 0;
        if (event.kind != Kind::time_is_up || !sampling)
            continue;
        if (watch.is_last())
            return 0;
        if (auto taken = watch.take(); !taken)
            return tl::unexpected(taken.error());
    }
}

Outcome<int> show(std::unique_ptr<Screen> screen, Watch &watch, bool still) {
    return show(*screen, watch, still);
}

} // namespace

Outcome<Exit> watch(Context &context, Output &output, const WatchPlan &plan) {
    Watch watch(context, plan);
    const bool still = is_still(context);
    if (still)
        context.note(is_capture(context) ? "a capture does not change: there is one sample"
                                         : context.tree().path() +
                                               " is not live: there is one sample; -s or -n asks "
                                               "for more");
    const bool terminal = Output::is_terminal() && isatty(STDIN_FILENO);
    if (!terminal || context.invocation().json())
        return write_lines(context, output, watch);
    std::unique_ptr<Screen> screen = Screen::open();
    if (!screen) {
        const char *const name = std::getenv("TERM");
        say(fmt::format("terminfo does not know how to draw on the terminal '{}' (TERM), so there "
                        "is no live view: one JSON document a line",
                        name ? name : ""));
        return write_lines(context, output, watch);
    }
    const auto signal = show(std::move(screen), watch, still);
    if (!signal)
        return tl::unexpected(signal.error());
    // The terminal is as it was; now the signal does what it does to every program, whatever
    // handler curses has left.
    if (*signal) {
        std::signal(*signal, SIG_DFL);
        std::raise(*signal);
    }
    return done;
}

} // namespace nvdebugctl
