// SPDX-License-Identifier: MIT OR GPL-2.0
// `watch`.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <set>
#include <thread>
#include <unistd.h>

#include "cli/context.hpp"
#include "cli/joined.hpp"
#include "cli/json.hpp"
#include "cli/output.hpp"
#include "cli/text.hpp"
#include "open_screen.hpp"
#include "pace.hpp"
#include "watch.hpp"
#include "watch_changes.hpp"
#include "watch_data.hpp"
#include "watch_view.hpp"

namespace nvdebugctl {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds lists_every{5000};
constexpr std::size_t window_samples = 120;

bool is_capture(const Context &context) {
    return source_kind(context.tree()) == "capture";
}

/// Returns whether one sample is enough. Captures do not change. A folder may change, but is
/// sampled again only if --count or --interval demand it.
bool is_still(const Context &context) {
    const bool asked = context.value("--count") || context.value("--interval");
    return is_capture(context) || (source_kind(context.tree()) == "folder" && !asked);
}

/// A GPU with its sampler and the results of the samples.
struct Watched {
    nvdebug::Gpu gpu;
    std::string name;
    Sampler sampler;
    Residency residency{window_samples};
    std::optional<Sample> sample = std::nullopt;

    Watched(const nvdebug::Gpu &which, std::uint64_t pace, bool lists_shown)
        : gpu(which), name(which.folder()), sampler(which, pace, lists_shown) {
        if (const auto info = gpu.info())
            name = printable(fmt::format("{}  {}  {}", name, info->chip.value_or("unknown"),
                                         info->pci_address.value_or("not on PCI")));
    }
};

/// All GPUs that are watched. They are sampled at the same moments.
class Watch {
  public:
    /// @param lists_shown as for Sampler
    Watch(Context &context, const Pace &plan, const std::vector<nvdebug::Gpu> &gpus,
          bool lists_shown)
        : context_(context), plan_(plan) {
        const auto pace =
            static_cast<std::uint64_t>(std::max<std::int64_t>(lists_every / plan.interval, 1));
        for (const nvdebug::Gpu &gpu : gpus)
            gpus_.emplace_back(gpu, pace, lists_shown);
    }

    /// Takes a sample of each GPU. Fails if nothing could be read from the beginning.
    Outcome<void> take() {
        context_.forget_missing();
        for (Watched &each : gpus_) {
            each.sample = each.sampler.take();
            each.residency.add(*each.sample);
            add_missing(each);
        }
        const auto is_readable = [](const Watched &each) {
            return each.sample->engines.has_value();
        };
        if (number() == 1 && std::ranges::none_of(gpus_, is_readable))
            return tl::unexpected(Failure(gpus_.front().sample->engines.error()));
        next_ = Clock::now() + plan_.interval;
        return {};
    }

    /// Returns whether the process of any task is known.
    bool knows_processes() const {
        return std::ranges::any_of(
            gpus_, [](const Watched &each) { return !each.sample->owners.empty(); });
    }

    bool is_last() const { return number() == plan_.count; }

    std::chrono::milliseconds until_next() const {
        using std::chrono::milliseconds;
        return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(next_ - Clock::now()));
    }

    /// Returns a JSON document for each GPU, one on each line.
    std::string documents() {
        std::string text;
        for (const Watched &each : gpus_) {
            context_.about(each.gpu);
            context_.forget_missing();
            add_missing(each);
            text += to_text(envelope(context_, data(each)), false);
        }
        context_.forget_missing();
        std::ranges::for_each(gpus_, [&](const Watched &each) { add_missing(each); });
        return text;
    }

    /// Returns a row for each engine, with the number of its GPU.
    Json rows() const {
        Json rows = Json::array();
        for (const Watched &each : gpus_)
            for (Json &row : watch_rows(data(each))) {
                row["gpu"] = each.gpu.index();
                rows.push_back(std::move(row));
            }
        return rows;
    }

    WatchedGpus shown() const {
        WatchedGpus shown{{}, source(), plan_.interval, is_still(context_)};
        for (const Watched &each : gpus_)
            shown.gpus.push_back({each.name, *each.sample, each.residency});
        return shown;
    }

  private:
    std::uint64_t number() const { return gpus_.front().sample->number; }

    void add_missing(const Watched &each) {
        for (nvdebug::Error &error : errors_of(*each.sample))
            context_.missing(std::move(error));
    }

    Json data(const Watched &each) const {
        return watch_json(*each.sample, each.residency, plan_.interval);
    }

    std::string source() const {
        if (is_capture(context_))
            return "a capture";
        return source_kind(context_.tree()) == "folder" ? context_.tree().path() : "live";
    }

    Context &context_;
    const Pace plan_;
    std::vector<Watched> gpus_; ///< at least one
    Clock::time_point next_;
};

/// Takes samples and writes each one.
/// @param text returns the text of the last sample
Outcome<Exit> write_samples(const Context &context, Output &output, Watch &watch,
                            const std::function<std::string()> &text) {
    for (;;) {
        if (auto taken = watch.take(); !taken)
            return tl::unexpected(taken.error());
        if (auto written = output.write(text()); !written)
            return tl::unexpected(written.error());
        if (watch.is_last() || is_still(context))
            return done;
        std::this_thread::sleep_for(watch.until_next());
    }
}

Outcome<Exit> write_documents(const Context &context, Output &output, Watch &watch) {
    return write_samples(context, output, watch, [&] { return watch.documents(); });
}

/// Returns whether a table without --columns has the column. A single sample has no columns that
/// take two.
bool is_shown(const Column &column, bool still, bool knows_processes) {
    if (column.name == "processes")
        return knows_processes;
    if (still && column.name == "busy")
        return true;
    const bool estimated =
        column.name == "busy_percent" || column.name == "who" || column.name == "resident_percent";
    return column.in_table && !(still && estimated);
}

/// Chooses the columns of rows.
/// @param watch has taken its first sample
RowWriter::Form form_of(const Context &context, const Watch &watch) {
    const Invocation &invocation = context.invocation();
    const bool csv = invocation.has("--csv");
    std::vector<std::string> columns = invocation.columns;
    if (columns.empty())
        for (const Column &column : context.command().columns)
            if (csv || is_shown(column, is_still(context), watch.knows_processes()))
                columns.push_back(column.name);
    if (context.all_gpus())
        columns.insert(columns.begin(), "gpu");
    return {std::move(columns), csv, !invocation.has("--no-header"),
            use_color(context.value("--color")), context.command().columns};
}

Outcome<Exit> write_rows(const Context &context, Output &output, Watch &watch) {
    std::optional<RowWriter> writer;
    std::set<std::string> said;
    return write_samples(context, output, watch, [&] {
        // The sentences about the last sample are printed when the command ends.
        if (!watch.is_last() && !is_still(context))
            for (const std::string &sentence : sentences_of(context.missing()))
                if (said.insert(sentence).second)
                    say(sentence);
        if (!writer)
            writer.emplace(form_of(context, watch));
        return writer->text(watch.rows());
    });
}

/// Shows the live view until it ends.
/// @return the signal that ended it, or 0 if the user quit
Outcome<int> show(Screen &screen, Watch &watch, bool still) {
    constexpr std::chrono::milliseconds idle{60 * 1000};
    WatchView view(this_terminal().unicode);
    if (auto taken = watch.take(); !taken)
        return tl::unexpected(taken.error());
    for (;;) {
        screen.draw(view.lines(watch.shown(), screen.size()));
        const bool sampling = !view.paused() && !still;
        const Screen::Event event = screen.wait(sampling ? watch.until_next() : idle);
        using Kind = Screen::Event::Kind;
        if (event.kind == Kind::hung_up || (event.kind == Kind::signal && event.value == SIGINT))
            return 0;
        if (event.kind == Kind::signal)
            return event.value;
        if (event.kind == Kind::key && view.handle(event.value))
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

Outcome<Exit> watch(Context &context, Output &output, const Pace &plan) {
    const bool still = is_still(context);
    if (still)
        context.note(is_capture(context) ? "a capture does not change: there is one sample"
                                         : context.tree().path() +
                                               " is not live: there is one sample; -s or -n asks "
                                               "for more");
    const auto gpus = context.gpus();
    if (!gpus)
        return tl::unexpected(gpus.error());
    std::unique_ptr<Screen> screen = open_screen(context, "one line an engine and sample");
    const bool json = context.invocation().json();
    // Rows show engines only, so they do not need the lists.
    Watch watch(context, plan, *gpus, screen || json);
    if (!screen)
        return json ? write_documents(context, output, watch) : write_rows(context, output, watch);
    const auto signal = show(std::move(screen), watch, still);
    if (!signal)
        return tl::unexpected(signal.error());
    return end_by_signal(*signal);
}

Outcome<Pace> watch_pace(const Context &context) {
    using std::chrono::milliseconds;
    const bool changes = context.flag("--changes");
    return pace_of(context, milliseconds(changes ? 1000 : 500), milliseconds(10),
                   changes ? "comparisons" : "samples");
}

Outcome<void> check_watch(const Context &context) {
    if (context.flag("--changes"))
        for (const char *const form : {"--csv", "--columns", "--no-header"})
            if (context.invocation().has(form))
                return usage(
                    fmt::format("--changes has lines or JSON (-j), and no columns for {}", form));
    return watch_pace(context).map([](const Pace &) {});
}

Outcome<Exit> stream_watch(Context &context, Output &output) {
    if (context.flag("--changes")) {
        if (is_capture(context))
            return fail(nvdebug::ErrorCode::unsupported,
                        "a capture does not change; 'nvdebugctl capture diff BEFORE AFTER' "
                        "compares two");
        return watch_changes(context, output, *watch_pace(context));
    }
    return watch(context, output, *watch_pace(context));
}

// JSON keys and columns have the same names, except that a row has all residents in two cells.

const std::vector<Column> sample_columns = {
    {"time", "when the sample was taken, ISO 8601 in UTC", "time"},
    {"sample", "number of the sample, from 1", "positive", false}};

const std::vector<Column> engine_columns = {
    {"engine", "name of the engine", "string"},
    {"runlist", "runlist that serves it; null: none", "uint?"},
    {"status",
     "'invalid', 'valid', 'load', 'save', 'switch', 'undefined-N' or 'unreadable'; null: no public "
     "register",
     "string?", false},
    {"current", "the task on it, as 'tsg:N' or 'channel:N'; null: none, or not known", "occupant?"},
    {"processes", "the processes of that task, as far as known", "[process]"},
    {"next", "the next task on it; null: none, or not known", "occupant?", false},
    {"busy", "it is working; null: not known", "bool?", false},
    {"faulted", "it faulted; null: not known", "bool?", false},
    {"busy_percent",
     "in how many of the last samples it was busy, in percent; null: not known, or in the first "
     "sample",
     "percent?", true, "busy%"}};

const std::vector<Column> resident_columns = {
    {"who", "'tsg:N' or 'channel:N'", "occupant"},
    {"resident_percent", "in how many of them, in percent", "percent"}};

std::vector<Field> engine_fields() {
    return joined(
        fields_of(engine_columns),
        {{"channels", "channels that feed it (Ampere and newer)", "[uint]"},
         {"residency",
          "the tasks on it in the last samples, most frequent first; null: not known, or in "
          "the first sample",
          "[object]?",
          joined(fields_of(resident_columns),
                 {{"processes", "the processes of the task, as far as known", "[process]"}})}});
}

std::vector<Field> list_fields() {
    return {{"runlist", "id of the runlist", "uint"},
            {"tsgs", "TSGs, each counted once; null: it could not be read", "uint?"},
            {"channels", "channels, each counted once; null: it could not be read", "uint?"},
            {"enabled", "those of them that are enabled; null: it could not be read", "uint?"},
            {"busy", "those of them that have work; null: it could not be read", "uint?"},
            {"pending", "submitted, and not yet taken over by Host; null: it could not be read",
             "bool?"},
            {"torn", "the list moved while it was copied; null: it could not be read", "bool?"},
            {"error", "why it could not be read; null: it could", "error?"}};
}

std::vector<Field> fields() {
    return joined(
        fields_of(sample_columns),
        {{"period_ms", "time between two samples, in milliseconds", "positive"},
         {"window_samples",
          "samples that the percentages are estimated from, this one included; those whose engines "
          "could not be read do not count",
          "uint"},
         {"engines",
          "engines that Host drives, in the order of device_info; null: could not be read this "
          "time",
          "[object]?", engine_fields()},
         {"runlists_sample",
          "number of the sample in which the runlists were read: they are read less often",
          "positive"},
         {"runlists", "runlists by rising id", "[object]", list_fields()}});
}

} // namespace

std::vector<Command> watch_commands() {
    return {
        {.object = "watch",
         .help =
             "the tasks on the engines: live on a terminal, else a line for each engine and sample",
         .options = {{"--count", "end after so many samples", "COUNT", "-n"},
                     {"--interval", "time between samples, or with a unit, as 10s; default: 500",
                      "MS", "-s"},
                     {"--changes",
                      "a line for each difference between two moments, in the words of 'capture "
                      "diff'; default of -s: 1000"}},
         .columns = joined(joined(sample_columns, engine_columns), resident_columns),
         .fields = fields(),
         .notes =
             {"Keys: q quit, h help, arrows PgUp PgDn Home End scroll, space pause, s next order, "
              "i fold or unfold what is idle, a all residents.",
              "Residency is estimated from the last samples, 120 at most: in what part of them "
              "the TSG or channel was on the engine. It is null in the first sample.",
              "A sample reads 'engines': the status of each engine and PBDMA, and of those in use "
              "twice, with their channels. For the live view and JSON, and where the source knows "
              "processes, one in five seconds also reads 'info' and the lists, without instance "
              "blocks: a few words for each entry and a register for each channel. A register "
              "costs about 1 us of the bus.",
              "Processes are known where NVIDIA's driver is the source, or was that of a capture; "
              "they are those of the lists, so up to five seconds old.",
              "--changes reads all lists and the copy engines each time. With -j it prints "
              "documents "
              "of 'capture diff', for each GPU in which something changed; -n counts comparisons.",
              "A capture gives one sample; so does a folder, unless -s or -n asks for more."},
         .examples = {{"nvdebugctl watch", "the live view"},
                      {"nvdebugctl watch -s 100 -n 600 --csv > minute.csv", "record a minute"},
                      {"nvdebugctl watch --changes", "what comes, goes and changes"},
                      {"nvdebugctl watch -j | jq -c '.data.engines[] | [.engine, .current]'",
                       "for a program"}},
         .check = check_watch,
         .stream = stream_watch}};
}

} // namespace nvdebugctl
