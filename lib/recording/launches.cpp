// SPDX-License-Identifier: MIT OR GPL-2.0
#include "launches.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <vector>

#include "fields.hpp"
#include "lines.hpp"

namespace recording {
namespace {

using drawing::Launch;

/// Limits of what a file may make a reader keep. The writer has 16,383 names of 4,000 characters.
constexpr std::size_t most_files = 4096, most_kernels = 1 << 15, most_threads = 1 << 14,
                      most_graphs = 1 << 15, longest = 1 << 14;

/// The clocks of a machine may be set by so much, and its start still counts as the same.
constexpr std::uint64_t clock_change_ns = 10'000'000'000;

std::array<std::uint32_t, 3> sizes_in(const Json &line, const char *key) {
    const Json &list = list_in(line, key);
    if (list.size() != 3)
        is_no(key, "list of three sizes");
    std::array<std::uint32_t, 3> sizes{};
    for (std::size_t n = 0; n < sizes.size(); n++) {
        if (!list[n].is_number_unsigned() || list[n].get<std::uint64_t>() > UINT32_MAX)
            is_no(key, "list of three sizes");
        sizes[n] = list[n].get<std::uint32_t>();
    }
    return sizes;
}

/// Counts what a file makes the reader keep.
void limit(std::size_t number, std::size_t most, const char *what) {
    if (number > most)
        throw BadLine(fmt::format("it is about more than {} {}", most, what));
}

/// The file of a process.
class LaunchFile {
  public:
    LaunchFile(const TimeSpan &time, drawing::Sink &sink, LaunchCounts &counts)
        : time_(time), sink_(sink), counts_(counts) {}

    /// Reads a line. Returns false if the rest of the file is of no interest.
    bool read(const std::string &text) {
        limit(text.size(), longest, "characters");
        const Json line = Json::parse(text, nullptr, false);
        if (line.is_discarded())
            throw BadLine("it is no JSON");
        const std::string kind = text_in(line, "kind");
        if (is_new_ != (kind == "launches"))
            throw BadLine(is_new_ ? "its first line is of another kind"
                                  : "another process begins there");
        if (is_new_)
            return read_head(line);
        if (kind == "kernel") {
            kernels_[number32(line, "kernel")] = text_in(line, "name");
            limit(kernels_.size(), most_kernels, "kernels");
        } else if (kind == "launch") {
            read_launch(line);
        } else if (kind == "lost") {
            counts_.lost += number64(line, "launches");
        }
        return true;
    }

  private:
    bool read_head(const Json &line) {
        is_new_ = false;
        const std::string version = text_in(line, "version");
        if (!version.starts_with("1."))
            throw BadLine(fmt::format("it is of version {}, and this program reads 1: use a newer "
                                      "one",
                                      version));
        pid_ = number32(line, "pid");
        process_ = text_in(line, "process");
        origin_ns_ = number_as_text(line, "boottime_ns");
        const bool same = time_.is_of_same_start(origin_ns_, number_as_text(line, "realtime_ns"));
        counts_.earlier += !same;
        return same;
    }

    void read_launch(const Json &line) {
        const std::uint64_t begin = origin_ns_ + number64(line, "ns");
        Launch launch{pid_,
                      number32(line, "thread"),
                      begin,
                      begin + number64(line, "took_ns"),
                      process_,
                      {},
                      number64(line, "context"),
                      number64(line, "stream"),
                      {},
                      {}};
        std::string name;
        if (line.contains("graph")) {
            // CUDA has no names of graphs.
            const auto [graph, fresh] =
                graphs_.try_emplace(number64(line, "graph"), graphs_.size() + 1);
            limit(graphs_.size(), most_graphs, "CUDA graphs");
            launch.name = name = fmt::format("CUDA graph {}", graph->second);
        } else {
            const auto found = kernels_.find(number32(line, "kernel"));
            launch.name =
                found == kernels_.end() ? std::string_view("kernel without a name") : found->second;
            launch.grid = sizes_in(line, "grid");
            launch.block = sizes_in(line, "block");
        }
        threads_.insert(launch.thread);
        limit(threads_.size(), most_threads, "threads");
        if (!time_.has(launch.begin_ns))
            return;
        counts_.passed++;
        sink_.launch(launch);
    }

    const TimeSpan &time_;
    drawing::Sink &sink_;
    LaunchCounts &counts_;
    bool is_new_ = true;
    std::uint32_t pid_ = 0;
    std::string process_;
    std::uint64_t origin_ns_ = 0;
    std::map<std::uint32_t, std::string> kernels_;
    std::map<std::uint64_t, std::size_t> graphs_; ///< their numbers, by handle
    std::set<std::uint32_t> threads_;
};

/// Returns the files of a folder, in order of their names.
nvdebug::Result<std::vector<std::string>> files_of(const std::string &folder) {
    std::error_code error;
    std::vector<std::string> files;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error)) {
        if (at->path().extension() == ".launches")
            files.push_back(at->path().string());
        if (files.size() > most_files)
            return malformed(fmt::format("{} has more than {} files of launches: move those of "
                                         "earlier runs elsewhere",
                                         folder, most_files));
    }
    if (error)
        return tl::unexpected(
            nvdebug::Error{nvdebug::code_of_errno(error.value()), error.value(), folder,
                           fmt::format("cannot list {}: {}", folder, error.message())});
    std::ranges::sort(files);
    return files;
}

nvdebug::Result<void> read_file(const std::string &path, LaunchFile file) {
    auto lines = LineReader::open_untrusted(path);
    if (!lines)
        return tl::unexpected(lines.error());
    try {
        std::string text;
        for (bool goes_on = true; goes_on;) {
            const auto got = lines->next(text);
            if (!got)
                return tl::unexpected(got.error());
            // The last line may have been cut off by the end of the process or a full disk.
            goes_on = *got == LineReader::ReadResult::line && file.read(text);
        }
    } catch (const BadLine &error) {
        return malformed(fmt::format("line {} of {} is not one that 'nvtaskset --kernels' writes: "
                                     "{}",
                                     lines->number(), path, error.what()));
    }
    return {};
}

} // namespace

void TimeSpan::clock(std::uint32_t /*gpu*/, const drawing::ClockReading &reading) {
    begin_ns_ = std::min(begin_ns_, reading.boottime_ns);
    end_ns_ = std::max(end_ns_, reading.boottime_ns);
    started_ns_ = reading.realtime_ns - reading.boottime_ns;
}

bool TimeSpan::is_of_same_start(std::uint64_t boottime_ns, std::uint64_t realtime_ns) const {
    const std::uint64_t started = realtime_ns - boottime_ns;
    return started_ns_ && started - *started_ns_ + clock_change_ns <= 2 * clock_change_ns;
}

nvdebug::Result<LaunchCounts> read_launches(const std::string &folder, const TimeSpan &time,
                                            drawing::Sink &sink) {
    const auto files = files_of(folder);
    if (!files)
        return tl::unexpected(files.error());
    LaunchCounts counts;
    for (const std::string &path : *files)
        if (const auto read = read_file(path, {time, sink, counts}); !read)
            return tl::unexpected(read.error());
    return counts;
}

} // namespace recording
