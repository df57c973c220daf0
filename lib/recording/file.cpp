// SPDX-License-Identifier: MIT OR GPL-2.0
#include "file.hpp"

#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>

#include "fields.hpp"
#include "lines.hpp"

namespace recording {
namespace {

using drawing::RecordingHead;
using nvdebug::Turn;

bool is_blank(const std::string &text) {
    return text.find_first_not_of(" \t\r") == text.npos;
}

} // namespace

// --- times ---

/// Returns a time of the GPU's clock or of the machine's.
/// @param base the origin, to which times of version 2 are relative; times of version 1 are
/// absolute
std::uint64_t RecordedFile::time_in(const Json &line, const char *key,
                                    const std::optional<std::uint64_t> &base) const {
    if (version_ == 1)
        return number64(line, key);
    const Json &value = value_of(line, key);
    if (!value.is_number_integer() ||
        (value.is_number_unsigned() &&
         value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}))
        is_no(key, "time");
    if (!base)
        throw BadLine(fmt::format("'{}' is a time, and no line before it has its origin", key));
    return *base + static_cast<std::uint64_t>(value.get<std::int64_t>());
}

std::uint64_t RecordedFile::gpu_time_in(const Json &line, const char *key) const {
    const auto found = origins_.find(number32(line, "gpu"));
    return time_in(line, key,
                   found == origins_.end() ? std::nullopt : std::optional(found->second.gpu_ns));
}

void RecordedFile::read_origin(const Json &line) {
    const Origin origin{number_as_text(line, "gpu_ns"),
                        unless_null(line, "monotonic_ns", number_as_text),
                        unless_null(line, "realtime_ns", number_as_text),
                        unless_null(line, "boottime_ns", number_as_text)};
    const auto [at, fresh] = origins_.try_emplace(number32(line, "gpu"), origin);
    if (!fresh && (origin.gpu_ns != at->second.gpu_ns ||
                   (at->second.monotonic_ns && origin.monotonic_ns != at->second.monotonic_ns)))
        throw BadLine("its times begin at another moment than those before");
    at->second = origin;
}

void RecordedFile::replay_clock(const Json &line, Sink &sink) {
    const std::uint32_t gpu = number32(line, "gpu");
    const auto found = origins_.find(gpu);
    const Origin origin = found == origins_.end() ? Origin{} : found->second;
    const ClockReading reading{
        gpu_time_in(line, "gpu_ns"), time_in(line, "monotonic_ns", origin.monotonic_ns),
        time_in(line, "realtime_ns", origin.realtime_ns),
        time_in(line, "boottime_ns", origin.boottime_ns), number64(line, "within_ns")};
    // Both clocks count from the start of the machine and never go back.
    const auto [at, fresh] = clocks_.try_emplace(gpu, reading);
    if (!fresh && (reading.monotonic_ns < at->second.monotonic_ns ||
                   reading.boottime_ns < at->second.boottime_ns))
        throw BadLine("its clocks are of another start of the machine than those before: a "
                      "recording is of one");
    at->second = reading;
    begins_.try_emplace(gpu, reading.gpu_ns);
    sink.clock(gpu, reading);
}

// --- lines ---

void RecordedFile::replay_head(const Json &line, Sink &sink) {
    const std::string version = text_in(line, "version");
    version_ = version.starts_with("1.") ? 1 : version.starts_with("2.") ? 2 : 0;
    if (!version_)
        throw BadLine(fmt::format("it is of version {}, and this program reads 1 and 2: use a "
                                  "newer one",
                                  version));
    RecordingHead head{
        text_in(line, "time"), text_in(line, "source"), number64(line, "period_ns"), {}};
    for (const Json &gpu : list_in(line, "gpus")) {
        head.gpus.push_back(
            {number32(gpu, "gpu"), unless_null(gpu, "chip", text_in),
             unless_null(gpu, "pci_address", text_in),
             gpu.contains("product") ? unless_null(gpu, "product", text_in) : std::nullopt});
        gpus_.insert(head.gpus.back().index);
    }
    sink.head(head);
}

const Lane &RecordedFile::lane(const Json &line, Lane::Means means) {
    Lane found{number32(line, "gpu"), text_in(line, "engine"), means};
    return lanes_.try_emplace({found.gpu, found.engine}, found).first->second;
}

void RecordedFile::replay_process(const Json &line, Sink &sink) {
    RecordedProcess process{number32(line, "pid"),
                            unless_null(line, "process", text_in),
                            unless_null(line, "cgroup", text_in),
                            unless_null(line, "container", text_in),
                            {},
                            number64(line, "channels"),
                            version_ == 1 ? std::nullopt : unless_null(line, "started", number64),
                            // Lines before 2.2 have no launcher.
                            line.contains("launcher") ? unless_null(line, "launcher", number32)
                                                      : std::nullopt};
    for (const Json &tsg : list_in(line, "tsgs"))
        process.tsgs.push_back({number32(tsg, "runlist"), number32(tsg, "tsg"),
                                unless_null(tsg, "timeslice_ns", number64)});
    const std::uint32_t gpu = number32(line, "gpu");
    started_[{gpu, process.pid}] = process.started;
    processes_.insert(gpu, process);
    sink.process(gpu, process);
}

/// Returns whether a turn is a second copy of GR0's last sample. Version 1 writes it as the turn of
/// the engine after GR0. On a chip with several graphics engines this is GR1, which runlist 0 does
/// not serve.
bool RecordedFile::is_of_gr0(const Turn &turn, const Lane &where) const {
    return version_ == 1 && !turn.whole && turn.who.runlist == 0U && where.engine != "GR0" &&
           where.engine.starts_with("GR") && where.means == Lane::Means::samples;
}

/// Cuts a turn at the begin of the recording, because version 1 has whole turns that began earlier.
/// @return false: the turn also ended before the recording began
bool RecordedFile::cut_at_begin(Turn &turn, std::uint32_t gpu) const {
    const auto clock = begins_.find(gpu);
    if (version_ != 1 || clock == begins_.end() || turn.begin_ns >= clock->second)
        return true;
    turn.begin_ns = clock->second;
    turn.whole = false;
    turn.gap_ns.reset();
    return turn.end_ns > turn.begin_ns;
}

void RecordedFile::replay_turn(const Json &line, Sink &sink) {
    Turn turn{{.pid = unless_null(line, "pid", number32),
               .context = unless_null(line, "context", number32),
               .runlist = unless_null(line, "runlist", number32),
               .tsg = unless_null(line, "tsg", number32),
               .channel = unless_null(line, "channel", number32)},
              gpu_time_in(line, "begin_ns"),
              gpu_time_in(line, "end_ns"),
              bool_in(line, "whole"),
              unless_null(line, "gap_ns", number64)};
    if (turn.end_ns < turn.begin_ns)
        throw BadLine("it is a turn that ends before it begins");
    // Only turns from switches have a context.
    const Lane &where = lane(line, turn.who.context ? Lane::Means::switches : Lane::Means::samples);
    if (is_of_gr0(turn, where) || !cut_at_begin(turn, where.gpu))
        return;
    // The start of the process tells it from later processes with the same pid.
    if (const auto found = started_.find({where.gpu, turn.who.pid.value_or(0)});
        turn.who.pid && found != started_.end())
        turn.who.started = found->second;
    sink.turn(where, turn, processes_.find(where.gpu, turn.who));
}

void RecordedFile::replay_end(const Json &line, Sink &sink) {
    const Lane &where =
        lane(line, text_in(line, "by") == "samples" ? Lane::Means::samples : Lane::Means::switches);
    if (!ended_.insert(&where).second)
        throw BadLine(fmt::format("gpu{} {} ends a second time", where.gpu, where.engine));
    const auto time = [this](const Json &from, const char *key) { return gpu_time_in(from, key); };
    sink.end(where, {unless_null(line, "begin_ns", time), unless_null(line, "end_ns", time),
                     number64(line, "samples"), number64(line, "missed_samples"),
                     number64(line, "known_ns")});
}

/// Replays a line. Throws BadLine if it is no line of a recording, or stands in the wrong place.
void RecordedFile::replay_line(const std::string &text, Sink &sink) {
    const Json line = Json::parse(text, nullptr, false);
    if (line.is_discarded())
        throw BadLine("it is no JSON");
    const std::string kind = text_in(line, "kind");
    const bool is_first = version_ == 0;
    if (is_first != (kind == "recording"))
        throw BadLine(is_first ? "its first line is of another kind"
                               : "another recording begins there, and each is to be a file of its "
                                 "own");
    if (is_whole_)
        throw BadLine("the summary before it is a recording's last line");
    if (kind == "recording")
        return replay_head(line, sink);
    if (kind == "summary") {
        is_whole_ = true;
        return;
    }
    if (const std::uint32_t gpu = number32(line, "gpu"); !gpus_.contains(gpu))
        throw BadLine(fmt::format("the recording's first line has no gpu{}", gpu));
    if (kind == "origin")
        read_origin(line);
    else if (kind == "clock")
        replay_clock(line, sink);
    else if (kind == "process")
        replay_process(line, sink);
    else if (kind == "turn")
        replay_turn(line, sink);
    else if (kind == "lost")
        sink.lost(lane(line, Lane::Means::switches), gpu_time_in(line, "after_ns"),
                  number64(line, "switches"));
    else if (kind == "mark")
        sink.mark({number32(line, "gpu"), gpu_time_in(line, "ns"), number32(line, "pid"),
                   text_in(line, "text")});
    else if (kind == "engine")
        replay_end(line, sink);
}

nvdebug::Result<bool> RecordedFile::replay(const std::string &path, Sink &sink) {
    auto lines = LineReader::open(path);
    if (!lines)
        return tl::unexpected(lines.error());
    std::uint64_t number = 1;
    try {
        for (std::string text;; number++) {
            auto got = lines->next(text);
            if (!got)
                return tl::unexpected(got.error());
            if (is_blank(text)) {
                if (*got == LineReader::ReadResult::line)
                    continue;
                got = LineReader::ReadResult::end;
            }
            if (*got == LineReader::ReadResult::line) {
                replay_line(text, sink);
                continue;
            }
            if (version_ == 0 && *got == LineReader::ReadResult::cut)
                throw BadLine("it is cut off, or this is no recording");
            if (version_ == 0)
                return malformed(
                    fmt::format("{} is empty: a recording has a line at least", lines->name()));
            // A last line without a line end was cut off, so the recording is not whole.
            return is_whole_ && *got == LineReader::ReadResult::end;
        }
    } catch (const BadLine &error) {
        return malformed(
            fmt::format("line {} of {} is not one of a recording as 'nvdebugctl record' "
                        "writes it in NDJSON: {}",
                        number, lines->name(), error.what()));
    }
}

} // namespace recording
