// SPDX-License-Identifier: MIT OR GPL-2.0
#include "watch.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <thread>
#include <unistd.h>

#include "context.hpp"
#include "json.hpp"
#include "output.hpp"

namespace nvdebugctl {

namespace {

Json residency_json(const std::optional<EngineResidency> &residency) {
    if (!residency)
        return nullptr;
    Json parts = Json::array();
    for (const EngineResidency::Part &part : residency->parts)
        parts.push_back({{"who", occupant(part.who)}, {"resident_percent", percent(part.part)}});
    return parts;
}

Json engine_json(const nvdebug::EngineState &engine, const Residency &residency) {
    auto estimate = residency.of(engine.engine);
    return {{"engine", engine.engine},
            {"runlist", or_null(engine.runlist)},
            {"status", or_null(engine.status)},
            {"current", occupant(engine.current)},
            {"next", occupant(engine.next)},
            {"channels", engine.channels},
            {"busy", or_null(engine.busy)},
            {"faulted", or_null(engine.faulted)},
            {"busy_percent", percent(estimate ? estimate->busy : std::nullopt)},
            {"residency", residency_json(estimate)}};
}

Json list_json(std::uint32_t id, const nvdebug::Result<nvdebug::Runlist> &list) {
    if (!list)
        return {{"runlist", id},       {"tsgs", nullptr},
                {"channels", nullptr}, {"enabled", nullptr},
                {"busy", nullptr},     {"pending", nullptr},
                {"torn", nullptr},     {"error", error_to_json(list.error())}};
    ListSummary summary = summarize(*list);
    return {{"runlist", id},
            {"tsgs", summary.tsgs},
            {"channels", summary.channels},
            {"enabled", summary.enabled},
            {"busy", summary.busy},
            {"pending", list->pending},
            {"torn", list->torn},
            {"error", nullptr}};
}

} // namespace

Json watch_json(const Sample &sample, const Residency &residency,
                std::chrono::milliseconds period) {
    Json engines, lists = Json::array();
    if (sample.engines) {
        engines = Json::array();
        for (const nvdebug::EngineState &engine : *sample.engines)
            engines.push_back(engine_json(engine, residency));
    }
    for (const auto &[id, list] : sample.lists)
        lists.push_back(list_json(id, list));
    return {{"time", sample.time},           {"sample", sample.number},
            {"period_ms", period.count()},   {"window_samples", residency.samples()},
            {"engines", std::move(engines)}, {"runlists_sample", sample.lists_number},
            {"runlists", std::move(lists)}};
}

namespace {

struct WatchPlan {
    std::chrono::milliseconds interval;
    std::optional<std::uint64_t> count; ///< samples; empty: until somebody ends it
};

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

namespace {

constexpr std::uint32_t default_interval_ms = 500, shortest_interval_ms = 10,
                        longest_interval_ms = 3600 * 1000;

Outcome<WatchPlan> plan_of(const Context &context) {
    WatchPlan plan{std::chrono::milliseconds(default_interval_ms), std::nullopt};
    if (const auto word = context.value("--interval")) {
        const auto interval = parse_id(*word);
        if (!interval || *interval < shortest_interval_ms || *interval > longest_interval_ms)
            return usage(fmt::format("-s {}: an interval is {} to {} milliseconds", *word,
                                     shortest_interval_ms, longest_interval_ms));
        plan.interval = std::chrono::milliseconds(*interval);
    }
    if (const auto word = context.value("--count")) {
        const auto count = parse_id(*word);
        if (!count || *count == 0)
            return usage(fmt::format("-n {}: a number of samples is 1 or more", *word));
        plan.count = *count;
    }
    return plan;
}

Outcome<void> check(const Context &context) {
    return plan_of(context).map([](const WatchPlan &) {});
}

Outcome<Exit> stream(Context &context, Output &output) {
    return watch(context, output, *plan_of(context));
}

} // namespace

std::vector<Command> watch_commands() {
    return {
        {.object = "watch",
         .help = "who is on the engines: live on a terminal, else a JSON document a line",
         .options = {{"--count", "end after so many samples", "COUNT", "-n"},
                     {"--interval", "time between samples; default: 500", "MS", "-s"}},
         .fields =
             {{"time", "when the sample was taken, ISO 8601 in UTC", "time"},
              {"sample", "number of the sample, from 1", "positive"},
              {"period_ms", "time between two samples, in milliseconds", "positive"},
              {"window_samples",
               "samples that the percentages are estimated from, this one included; those whose "
               "engines could not be read do not count",
               "uint"},
              {"engines",
               "engines that Host drives, in the order of device_info; null: could not be read "
               "this time",
               "[object]?",
               {{"engine", "name of the engine", "string"},
                {"runlist", "runlist that serves it; null: none", "uint?"},
                {"status",
                 "'invalid', 'valid', 'load', 'save', 'switch', 'undefined-N' or 'unreadable'; "
                 "null: no public register",
                 "string?"},
                {"current", "who is on it, as 'tsg:N' or 'channel:N'; null: nobody, or not known",
                 "occupant?"},
                {"next", "who is to be on it next; null: nobody, or not known", "occupant?"},
                {"channels", "channels that feed it (Ampere and newer)", "[uint]"},
                {"busy", "it is working; null: not known", "bool?"},
                {"faulted", "it faulted; null: not known", "bool?"},
                {"busy_percent",
                 "in how many of the last samples it was busy, in percent; null: not known, or in "
                 "the first sample",
                 "percent?"},
                {"residency",
                 "who was on it in the last samples, most often first; null: not known, or in the "
                 "first sample",
                 "[object]?",
                 {{"who", "'tsg:N' or 'channel:N'", "occupant"},
                  {"resident_percent", "in how many of them, in percent", "percent"}}}}},
              {"runlists_sample",
               "number of the sample in which the runlists were read: they are read less often",
               "positive"},
              {"runlists",
               "runlists by rising id",
               "[object]",
               {{"runlist", "id of the runlist", "uint"},
                {"tsgs", "TSGs, each counted once; null: it could not be read", "uint?"},
                {"channels", "channels, each counted once; null: it could not be read", "uint?"},
                {"enabled", "those of them that are enabled; null: it could not be read", "uint?"},
                {"busy", "those of them that have work; null: it could not be read", "uint?"},
                {"pending", "submitted, and not yet taken over by Host; null: it could not be read",
                 "bool?"},
                {"torn", "the list moved while it was copied; null: it could not be read", "bool?"},
                {"error", "why it could not be read; null: it could", "error?"}}}},
         .notes =
             {"Keys: q quit, h help, e fold the engines of a runlist, s next order, space "
              "pause.",
              "Residency is estimated from the last samples, 120 at most: in what part of them "
              "the TSG or channel was on the engine. It is null in the first document.",
              "A sample reads 'engines': the status of each engine and PBDMA twice, a register "
              "or two each. Every tenth also reads the lists, without instance blocks: a "
              "few words for each entry and a register for each channel. A register costs "
              "about 1 us of the bus.",
              "Of a capture there is one sample, and of a folder unless -s or -n asks for more."},
         .examples = {{"nvdebugctl watch", "the live view"},
                      {"nvdebugctl watch -s 100 -n 600 > minute.ndjson", "record a minute"},
                      {"nvdebugctl watch | jq -c '.data.engines[] | [.engine, .current]'",
                       "for a program"}},
         .check = check,
         .stream = stream}};
}

} // namespace nvdebugctl
