// SPDX-License-Identifier: MIT OR GPL-2.0
// A recording told again from its lines of NDJSON.
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <iostream>

#include "json.hpp"
#include "recording.hpp"

namespace nvdebugctl {
namespace {

using nvdebug::Turn;

template <typename T>
std::optional<T> optional_of(const Json &value) {
    return value.is_null() ? std::nullopt : std::optional(value.get<T>());
}

void tell_head(const Json &line, Sink &sink) {
    RecordingHead head{line.at("time"), line.at("source"), line.at("period_ns"), {}};
    for (const Json &gpu : line.at("gpus"))
        head.gpus.push_back({gpu.at("gpu"), optional_of<std::string>(gpu.at("chip")),
                             optional_of<std::string>(gpu.at("pci_address"))});
    sink.head(head);
}

} // namespace

const Lane &RecordedFile::lane(const Json &line, Lane::Means means) {
    Lane found{line.at("gpu"), line.at("engine"), means};
    return lanes_.try_emplace({found.gpu, found.engine}, found).first->second;
}

void RecordedFile::tell_process(const Json &line, Sink &sink) {
    RecordedProcess process{line.at("pid"),
                            optional_of<std::string>(line.at("process")),
                            optional_of<std::string>(line.at("cgroup")),
                            optional_of<std::string>(line.at("container")),
                            {},
                            line.at("channels")};
    for (const Json &tsg : line.at("tsgs"))
        process.tsgs.push_back(
            {tsg.at("runlist"), tsg.at("tsg"), optional_of<std::uint64_t>(tsg.at("timeslice_ns"))});
    const auto gpu = line.at("gpu").get<std::uint32_t>();
    processes_.insert_or_assign({gpu, process.pid}, process);
    sink.process(gpu, process);
}

void RecordedFile::tell_turn(const Json &line, Sink &sink) {
    using Number = std::uint32_t;
    const Turn turn{{.pid = optional_of<Number>(line.at("pid")),
                     .context = optional_of<Number>(line.at("context")),
                     .runlist = optional_of<Number>(line.at("runlist")),
                     .tsg = optional_of<Number>(line.at("tsg")),
                     .channel = optional_of<Number>(line.at("channel"))},
                    line.at("begin_ns"),
                    line.at("end_ns"),
                    line.at("whole"),
                    optional_of<std::uint64_t>(line.at("gap_ns"))};
    if (turn.end_ns < turn.begin_ns)
        throw std::runtime_error("a turn that ends before it begins");
    // Only switches tell of contexts.
    const Lane &where = lane(line, turn.who.context ? Lane::Means::switches : Lane::Means::samples);
    const auto found = processes_.find({where.gpu, turn.who.pid.value_or(0)});
    sink.turn(where, turn, turn.who.pid && found != processes_.end() ? &found->second : nullptr);
}

/** Throws Json::exception where it is no line of a recording. @return its kind */
std::string RecordedFile::tell_line(const std::string &text, Sink &sink) {
    const Json line = Json::parse(text);
    const auto kind = line.at("kind").get<std::string>();
    if (kind == "recording")
        tell_head(line, sink);
    else if (kind == "clock")
        sink.clock(line.at("gpu"),
                   {line.at("gpu_ns"), line.at("monotonic_ns"), line.at("realtime_ns"),
                    line.at("boottime_ns"), line.at("within_ns")});
    else if (kind == "process")
        tell_process(line, sink);
    else if (kind == "turn")
        tell_turn(line, sink);
    else if (kind == "lost")
        sink.lost(lane(line, Lane::Means::switches), line.at("after_ns"), line.at("switches"));
    else if (kind == "mark")
        sink.mark({line.at("gpu"), line.at("ns"), line.at("pid"), line.at("text")});
    else if (kind == "engine")
        sink.end(
            lane(line, line.at("by") == "samples" ? Lane::Means::samples : Lane::Means::switches),
            {optional_of<std::uint64_t>(line.at("begin_ns")),
             optional_of<std::uint64_t>(line.at("end_ns")), line.at("samples"),
             line.at("missed_samples"), line.at("known_ns")});
    return kind;
}

Outcome<bool> RecordedFile::tell(const std::string &path, Sink &sink) {
    std::ifstream file;
    if (path != "-") {
        file.open(path);
        if (!file) {
            const int number = errno;
            return tl::unexpected(
                Failure({nvdebug::code_of_errno(number), number, path,
                         fmt::format("cannot open {}: {}", path, std::strerror(number))}));
        }
    }
    std::istream &lines = path == "-" ? std::cin : file;
    std::string text, kind;
    for (std::uint64_t number = 1; std::getline(lines, text); number++) {
        // A line without its end was cut off, and so was the recording.
        if (lines.eof())
            return false;
        std::string trouble;
        try {
            kind = tell_line(text, sink);
            if (number == 1 && kind != "recording")
                trouble = "its first line is of another kind";
        } catch (const std::exception &error) {
            trouble = error.what();
        }
        if (!trouble.empty())
            return fail(nvdebug::ErrorCode::malformed,
                        fmt::format("line {} of {} is not one of a recording as 'nvdebugctl "
                                    "record' writes it in NDJSON: {}",
                                    number, path == "-" ? "standard input" : path, trouble));
    }
    if (kind.empty())
        return fail(nvdebug::ErrorCode::malformed,
                    fmt::format("{} is empty, or cannot be read: a recording has a line at least",
                                path == "-" ? "standard input" : path));
    return kind == "summary";
}

} // namespace nvdebugctl
