// SPDX-License-Identifier: MIT OR GPL-2.0
#include "forms.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include "aligned.hpp"
#include "cli/json.hpp"
#include "cli/text.hpp"
#include "recorded_identity.hpp"
#include "recording_page.hpp"
#include "summary.hpp"

namespace nvdebugctl {
namespace {

using nvdebug::Holder;
using nvdebug::Turn;

std::string quoted(const Json &value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <typename T>
std::string or_null_text(const std::optional<T> &value) {
    return value ? fmt::format("{}", *value) : std::string("null");
}

/// The ends of lines of turns. They are alike for all turns of a process, so each is made once.
class Tails {
  public:
    template <typename Make>
    const std::string &of(const Holder &who, const RecordedProcess *process, Make make) {
        Tail &tail = tails_[{who, process != nullptr}];
        // The process may run another program by now, under the same pid.
        if (tail.text.empty() || (process && process->command != tail.command))
            tail = {make(), process ? process->command : std::nullopt};
        return tail.text;
    }

  private:
    struct Tail {
        std::string text;
        std::optional<std::string> command;
    };
    std::map<std::pair<Holder, bool>, Tail> tails_;
};

/// The moment from which each GPU's times are counted.
class Origins {
  public:
    /// Learns the origin of a GPU.
    /// @return the origin, if it has to be written now because it is new, or because more of it is
    /// known; else nullptr
    const Origin *learn(std::uint32_t gpu, const Origin &origin) {
        const auto [at, fresh] = origins_.try_emplace(gpu, origin);
        if (fresh)
            return &at->second;
        if (at->second.monotonic_ns || !origin.monotonic_ns)
            return nullptr;
        // So far only the GPU's clock was known. Convert the new readings to the same moment.
        const std::uint64_t later = origin.gpu_ns - at->second.gpu_ns;
        at->second = {at->second.gpu_ns, *origin.monotonic_ns - later, *origin.realtime_ns - later,
                      *origin.boottime_ns - later};
        return &at->second;
    }
    const Origin &of(std::uint32_t gpu) const { return origins_.at(gpu); }
    std::int64_t since(std::uint32_t gpu, std::uint64_t ns) const {
        return static_cast<std::int64_t>(ns - of(gpu).gpu_ns);
    }

  private:
    std::map<std::uint32_t, Origin> origins_;
};

class Ndjson final : public TextSink {
  public:
    void head(const RecordingHead &head) override {
        Json gpus = Json::array();
        for (const RecordedGpu &gpu : head.gpus)
            gpus.push_back({{"gpu", gpu.index},
                            {"chip", or_null(gpu.chip)},
                            {"pci_address", or_null(gpu.pci_address)},
                            {"product", or_null(gpu.product)}});
        add({{"kind", "recording"},
             {"version", "2.3"},
             {"tool", "nvdebugctl " NVDEBUGCTL_VERSION},
             {"time", head.time},
             {"source", head.source},
             {"period_ns", head.period_ns},
             {"gpus", std::move(gpus)}});
    }

    void clock(std::uint32_t gpu, const ClockReading &at) override {
        begin(gpu, {at.gpu_ns, at.monotonic_ns, at.realtime_ns, at.boottime_ns});
        const Origin &origin = origins_.of(gpu);
        const auto since = [](std::uint64_t ns, const std::optional<std::uint64_t> &from) {
            return static_cast<std::int64_t>(ns - from.value_or(0));
        };
        add({{"kind", "clock"},
             {"gpu", gpu},
             {"gpu_ns", origins_.since(gpu, at.gpu_ns)},
             {"monotonic_ns", since(at.monotonic_ns, origin.monotonic_ns)},
             {"realtime_ns", since(at.realtime_ns, origin.realtime_ns)},
             {"boottime_ns", since(at.boottime_ns, origin.boottime_ns)},
             {"within_ns", at.within_ns}});
    }

    void process(std::uint32_t gpu, const RecordedProcess &process) override {
        Json tsgs = Json::array();
        for (const RecordedProcess::Tsg &tsg : process.tsgs)
            tsgs.push_back({{"runlist", tsg.runlist},
                            {"tsg", tsg.id},
                            {"timeslice_ns", or_null(tsg.timeslice_ns)}});
        Json line = {{"kind", "process"},
                     {"gpu", gpu},
                     {"pid", process.pid},
                     {"process", or_null(process.command)},
                     {"cgroup", or_null(process.cgroup)}};
        line.update(recorded_identity(process));
        line.update({{"started", or_null(process.started)},
                     {"launcher", or_null(process.launcher)},
                     {"channels", process.channels},
                     {"tsgs", std::move(tsgs)}});
        add(line);
    }

    void turn(const Lane &lane, const Turn &turn, const RecordedProcess *process) override {
        const std::string &tail = tails_.of(turn.who, process, [&] {
            const Holder &who = turn.who;
            return fmt::format(
                R"("pid":{},"process":{},"context":{},"runlist":{},"tsg":{},"channel":{}}})"
                "\n",
                or_null_text(who.pid), quoted(process ? or_null(process->command) : Json()),
                or_null_text(who.context), or_null_text(who.runlist), or_null_text(who.tsg),
                or_null_text(who.channel));
        });
        begin(lane.gpu, {turn.begin_ns});
        std::string &first = begins_[&lane];
        if (first.empty())
            first = fmt::format(R"({{"kind":"turn","gpu":{},"engine":{},"begin_ns":)", lane.gpu,
                                quoted(Json(lane.engine)));
        text_ += first;
        fmt::format_to(std::back_inserter(text_), R"({},"end_ns":{},"whole":{},"gap_ns":)",
                       origins_.since(lane.gpu, turn.begin_ns),
                       origins_.since(lane.gpu, turn.end_ns), turn.whole);
        if (turn.gap_ns)
            fmt::format_to(std::back_inserter(text_), "{},", *turn.gap_ns);
        else
            text_ += "null,";
        text_ += tail;
    }

    void lost(const Lane &lane, std::uint64_t ns, std::uint64_t count) override {
        begin(lane.gpu, {ns});
        add({{"kind", "lost"},
             {"gpu", lane.gpu},
             {"engine", lane.engine},
             {"after_ns", origins_.since(lane.gpu, ns)},
             {"switches", count}});
    }

    void mark(const Mark &mark) override {
        begin(mark.gpu, {mark.ns});
        add({{"kind", "mark"},
             {"gpu", mark.gpu},
             {"ns", origins_.since(mark.gpu, mark.ns)},
             {"pid", mark.pid},
             {"text", mark.text}});
    }

    void end(const Lane &lane, const LaneEnd &end) override {
        if (const auto ns = end.begin_ns ? end.begin_ns : end.end_ns)
            begin(lane.gpu, {*ns});
        const auto since = [&](const std::optional<std::uint64_t> &ns) {
            return ns ? Json(origins_.since(lane.gpu, *ns)) : Json();
        };
        add({{"kind", "engine"},
             {"gpu", lane.gpu},
             {"engine", lane.engine},
             {"by", lane.means == Lane::Means::samples ? "samples" : "switches"},
             {"begin_ns", since(end.begin_ns)},
             {"end_ns", since(end.end_ns)},
             {"samples", end.samples},
             {"missed_samples", end.missed},
             {"known_ns", end.known_ns}});
    }

    void end(const Json &summary) override { add({{"kind", "summary"}, {"summary", summary}}); }

  private:
    void add(const Json &line) { text_ += quoted(line) + "\n"; }

    /// Writes the origin of a GPU before its first time.
    void begin(std::uint32_t gpu, const Origin &known) {
        const Origin *const origin = origins_.learn(gpu, known);
        if (!origin)
            return;
        const auto text = [](const std::optional<std::uint64_t> &ns) {
            return ns ? Json(std::to_string(*ns)) : Json();
        };
        add({{"kind", "origin"},
             {"gpu", gpu},
             {"gpu_ns", std::to_string(origin->gpu_ns)},
             {"monotonic_ns", text(origin->monotonic_ns)},
             {"realtime_ns", text(origin->realtime_ns)},
             {"boottime_ns", text(origin->boottime_ns)}});
    }

    Origins origins_;
    std::map<const Lane *, std::string> begins_;
    Tails tails_;
};

/// Returns the keys that name an engine, and @p more keys after them.
std::vector<Field> of_engine(std::string kind, std::vector<Field> more) {
    std::vector<Field> all = {{"kind", "what the line is", "=" + std::move(kind)},
                              {"gpu", "N of gpuN", "uint"},
                              {"engine", "name of the engine", "string"}};
    std::ranges::move(more, std::back_inserter(all));
    return all;
}

class Csv final : public TextSink {
  public:
    void head(const RecordingHead &) override {
        text_ += "kind,gpu,engine,begin_ns,end_ns,whole,pid,process,context,runlist,tsg,channel,"
                 "count,text\n";
    }

    void clock(std::uint32_t gpu, const ClockReading &at) override {
        begin(gpu, at.gpu_ns);
        fmt::format_to(std::back_inserter(text_), "clock,{},,{},,,,,,,,,,{}\n", gpu,
                       origins_.since(gpu, at.gpu_ns), at.monotonic_ns);
    }

    void turn(const Lane &lane, const Turn &turn, const RecordedProcess *process) override {
        begin(lane.gpu, turn.begin_ns);
        const std::string &tail = tails_.of(turn.who, process, [&] {
            const Holder &who = turn.who;
            return fmt::format(
                "{},{},{},{},{},{},,\n", cell(who.pid),
                process && process->command ? quoted_cell(*process->command) : std::string(),
                cell(who.context), cell(who.runlist), cell(who.tsg), cell(who.channel));
        });
        fmt::format_to(std::back_inserter(text_), "turn,{},{},{},{},{},", lane.gpu, engine(lane),
                       origins_.since(lane.gpu, turn.begin_ns),
                       origins_.since(lane.gpu, turn.end_ns), turn.whole);
        text_ += tail;
    }

    void lost(const Lane &lane, std::uint64_t ns, std::uint64_t count) override {
        begin(lane.gpu, ns);
        fmt::format_to(std::back_inserter(text_), "lost,{},{},{},,,,,,,,,{},\n", lane.gpu,
                       engine(lane), origins_.since(lane.gpu, ns), count);
    }

    void mark(const Mark &mark) override {
        begin(mark.gpu, mark.ns);
        fmt::format_to(std::back_inserter(text_), "mark,{},,{},,,{},,,,,,,{}\n", mark.gpu,
                       origins_.since(mark.gpu, mark.ns), mark.pid, quoted_cell(mark.text));
    }

    void end(const Lane &lane, const LaneEnd &end) override {
        if (const auto ns = end.begin_ns ? end.begin_ns : end.end_ns)
            begin(lane.gpu, *ns);
        const auto since = [&](const std::optional<std::uint64_t> &ns) {
            return ns ? fmt::format("{}", origins_.since(lane.gpu, *ns)) : std::string();
        };
        fmt::format_to(std::back_inserter(text_), "engine,{},{},{},{},,,,,,,,{},{}\n", lane.gpu,
                       engine(lane), since(end.begin_ns), since(end.end_ns),
                       lane.means == Lane::Means::samples ? cell(std::optional(end.samples)) : "",
                       lane.means == Lane::Means::samples ? "samples" : "switches");
    }

  private:
    template <typename T>
    static std::string cell(const std::optional<T> &value) {
        return value ? fmt::format("{}", *value) : std::string();
    }

    static std::string quoted_cell(const std::string &raw) {
        const std::string text = printable(raw);
        if (text.find_first_of(",\"") == text.npos)
            return text;
        std::string quoted = "\"";
        for (const char letter : text)
            quoted += letter == '"' ? std::string("\"\"") : std::string(1, letter);
        return quoted + "\"";
    }

    const std::string &engine(const Lane &lane) {
        std::string &name = engines_[&lane];
        if (name.empty())
            name = quoted_cell(lane.engine);
        return name;
    }

    /// Writes the GPU's origin. It is the only row with an absolute time: all other rows count from
    /// it.
    void begin(std::uint32_t gpu, std::uint64_t ns) {
        if (origins_.learn(gpu, {ns}))
            fmt::format_to(std::back_inserter(text_), "origin,{},,{},,,,,,,,,,\n", gpu, ns);
    }

    std::map<const Lane *, std::string> engines_;
    Origins origins_;
    Tails tails_;
};

/// Writes a page that shows the recording. The page ends with the lines of NDJSON, so that it can
/// be read also if it was cut off.
class Html final : public TextSink {
  public:
    void head(const RecordingHead &head) override {
        text_ += recording_page;
        write([&] { lines_.head(head); });
    }
    void clock(std::uint32_t gpu, const ClockReading &reading) override {
        write([&] { lines_.clock(gpu, reading); });
    }
    void process(std::uint32_t gpu, const RecordedProcess &process) override {
        write([&] { lines_.process(gpu, process); });
    }
    void turn(const Lane &lane, const Turn &turn, const RecordedProcess *process) override {
        write([&] { lines_.turn(lane, turn, process); });
    }
    void lost(const Lane &lane, std::uint64_t ns, std::uint64_t count) override {
        write([&] { lines_.lost(lane, ns, count); });
    }
    void mark(const Mark &mark) override {
        write([&] { lines_.mark(mark); });
    }
    void end(const Lane &lane, const LaneEnd &end) override {
        write([&] { lines_.end(lane, end); });
    }
    void end(const Json &summary) override {
        write([&] { lines_.end(summary); });
        text_ += "</script>\n";
    }

  private:
    template <typename What>
    void write(What what) {
        what();
        // Users choose the names of processes, and a name must not end the script.
        for (const char letter : lines_.text())
            if (letter == '<')
                text_ += "\\u003c";
            else
                text_ += letter;
        lines_.text().clear();
    }

    Ndjson lines_;
};

} // namespace

std::unique_ptr<TextSink> make_ndjson() {
    return std::make_unique<Ndjson>();
}

std::unique_ptr<TextSink> make_csv() {
    return std::make_unique<Csv>();
}

std::unique_ptr<TextSink> make_html() {
    return std::make_unique<Html>();
}

const std::vector<Form> &forms() {
    static const std::vector<Form> all = {
        {"perfetto", {".pftrace", ".perfetto-trace", ".pb"}, [] { return make_aligned(); }},
        {"ndjson", {".ndjson", ".jsonl"}, make_ndjson},
        {"csv", {".csv"}, make_csv},
        {"html", {".html", ".htm"}, make_html},
    };
    return all;
}

std::vector<Field> recording_lines() {
    return {
        {"",
         "the first line",
         "object",
         {{"kind", "what the line is", "=recording"},
          {"version", "MAJOR.MINOR of these lines", "version"},
          {"tool", "name and version of the program that wrote them", "string"},
          {"time", "when it began, ISO 8601 in UTC", "time"},
          {"source", "where it comes from", "string"},
          {"period_ns", "time between two samples; 0: none are taken", "uint"},
          {"gpus",
           "those that are recorded",
           "[object]",
           {{"gpu", "N of gpuN", "uint"},
            {"chip", "name of the chip; null: unknown", "string?"},
            {"pci_address", "domain:bus:device.function; null: unknown", "string?"},
            {"product", "what NVIDIA's driver calls the product; null: unknown", "string?"}}}}},
        {"",
         "when its times begin; before the first of a GPU, and again when more is known of it",
         "object",
         {{"kind", "what the line is", "=origin"},
          {"gpu", "N of gpuN", "uint"},
          {"gpu_ns", "nanoseconds by the GPU's clock: all other times of it are since then",
           "string"},
          {"monotonic_ns", "that moment by CLOCK_MONOTONIC; null: not known", "string?"},
          {"realtime_ns", "by CLOCK_REALTIME; null: not known", "string?"},
          {"boottime_ns", "by CLOCK_BOOTTIME; null: not known", "string?"}}},
        {"",
         "one moment by several clocks, each since the origin",
         "object",
         {{"kind", "what the line is", "=clock"},
          {"gpu", "N of gpuN", "uint"},
          {"gpu_ns", "by the GPU's clock, which all other times of a recording are of", "int"},
          {"monotonic_ns", "by CLOCK_MONOTONIC", "int"},
          {"realtime_ns", "by CLOCK_REALTIME", "int"},
          {"boottime_ns", "by CLOCK_BOOTTIME", "int"},
          {"within_ns", "they were read within so much time", "uint"}}},
        {"",
         "a process; again when more is known of it",
         "object",
         {{"kind", "what the line is", "=process"},
          {"gpu", "N of gpuN", "uint"},
          {"pid", "its number", "uint"},
          {"process", "name of its command; null: not known", "string?"},
          {"cgroup", "its cgroup; null: not known", "string?"},
          {"container", "id of the container that its cgroup names; null: none", "string?"},
          {"pod", "uid of the Kubernetes pod that its cgroup names; null: none", "string?"},
          {"job", "number of the Slurm job that its cgroup names; null: none", "string?"},
          {"step", "step of that job; null: none", "string?"},
          {"started",
           "when it was started, in clock ticks since the machine was; a later process of this "
           "number has another; null: not known",
           "uint?"},
          {"launcher",
           "number of the process that started it, as torchrun starts ranks; null: process 1 or a "
           "shell, or not known",
           "uint?"},
          {"channels", "its channels on lists", "uint"},
          {"tsgs",
           "its TSGs",
           "[object]",
           {{"runlist", "runlist that holds it", "uint"},
            {"tsg", "id of the TSG", "uint"},
            {"timeslice_ns", "its timeslice; null: not known", "uint?"}}}}},
        {"", "a process had an engine", "object",
         of_engine(
             "turn",
             {{"begin_ns", "since when", "int"},
              {"end_ns", "until when", "int"},
              {"whole", "both ends were seen", "bool"},
              {"gap_ns", "time since the turn before it; null: not known", "uint?"},
              {"pid",
               "its process; 0: hidden from this user, 4294967295: the driver's own; null: not "
               "known",
               "uint?"},
              {"process", "name of its command; null: not known", "string?"},
              {"context", "the driver's number of the context; null: not known", "uint?"},
              {"runlist", "runlist of the TSG; null: not known", "uint?"},
              {"tsg", "id of the TSG; null: not known", "uint?"},
              {"channel", "id of a channel outside any TSG; null: none, or not known", "uint?"}})},
        {"", "what the driver dropped", "object",
         of_engine("lost", {{"after_ns", "after that moment", "int"},
                            {"switches", "so many switches", "uint"}})},
        {"",
         "a control",
         "object",
         {{"kind", "what the line is", "=mark"},
          {"gpu", "N of gpuN", "uint"},
          {"ns", "when", "int"},
          {"pid", "the process that asked for it", "uint"},
          {"text", "what it was", "string"}}},
        {"", "an engine, at the end", "object",
         of_engine("engine",
                   {{"by", "how turns were found", "switches|samples"},
                    {"begin_ns", "since when it was watched; null: never", "int?"},
                    {"end_ns", "until when; null: never", "int?"},
                    {"samples", "samples that were taken", "uint"},
                    {"missed_samples", "samples that there was no time for", "uint"},
                    {"known_ns", "time for which the process that had it is known", "uint"}})},
        {"",
         "the last line",
         "object",
         {{"kind", "what the line is", "=summary"},
          {"summary", "as data of nvdebug/record", "object", summary_fields()}}},
    };
}

} // namespace nvdebugctl
