// SPDX-License-Identifier: MIT OR GPL-2.0
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <thread>
#include <unistd.h>

#include "chart.hpp"
#include "forms.hpp"
#include "lib/stgm/experiment.hpp"

namespace nvstgm {
namespace {

const char *word_of(stgm::Reading reading) {
    return reading == stgm::Reading::full ? "full" : "one";
}

/** Returns the analysis as people read it, for pictures: `STGM as printed, suspending`. */
std::string readable(std::string_view name) {
    using Word = std::pair<std::string_view, std::string_view>;
    static constexpr Word beginnings[] = {{"stgm_printed", "STGM as printed"},
                                          {"stgm_tight", "STGM, tight"},
                                          {"stgm_disjoint", "STGM, disjoint SMs"},
                                          {"stgm", "STGM"},
                                          {"mpcp", "MPCP"},
                                          {"fmlp", "FMLP"},
                                          {"timeslice", "time slices"}};
    static constexpr Word endings[] = {
        {"_fixed", ", fixed lengths"}, {"_suspend", ", suspending"}, {"_busy", ", busy-waiting"}};
    std::string end;
    for (const auto &[word, reads] : endings)
        if (name.ends_with(word)) {
            end.insert(0, reads);
            name.remove_suffix(word.size());
        }
    for (const auto &[word, reads] : beginnings)
        if (name == word)
            return std::string(reads) + end;
    return std::string(name) + end;
}

/** Returns the intervals of the part of schedulable sets, and of the weighted part. */
std::pair<stgm::Interval, stgm::Interval> intervals_of(const stgm::Count &count) {
    return {stgm::wilson(count.part(), static_cast<double>(count.sets)),
            stgm::wilson(count.weighted(), count.effective_sets())};
}

Json rows_of(const stgm::Figure &figure, const std::vector<stgm::Curve> &curves) {
    Json rows = Json::array();
    const auto rounded = [](double part) { return std::round(part * 1e6) / 1e6; };
    for (std::size_t point = 0; point < figure.points.size(); point++)
        for (std::size_t n = 0; n < curves.size(); n++) {
            const stgm::Count &count = figure.counts[point][n];
            const auto [interval, weighted] = intervals_of(count);
            rows.push_back({{"figure", figure.number},
                            {"x", figure.points[point]},
                            {"kernels", word_of(curves[n].reading)},
                            {"analysis", curves[n].name},
                            {"sets", count.sets},
                            {"schedulable", count.schedulable},
                            {"part", rounded(count.part())},
                            {"low", rounded(interval.low)},
                            {"high", rounded(interval.high)},
                            {"weighted", rounded(count.weighted())},
                            {"weighted_low", rounded(weighted.low)},
                            {"weighted_high", rounded(weighted.high)}});
        }
    return rows;
}

std::vector<Column> figures_columns() {
    return {{"figure", "figure"},
            {"x", "x"},
            {"kernels", "kernels", true},
            {"analysis", "analysis", true},
            {"sets", "sets", false, 3},
            {"schedulable", "schedulable"},
            {"part", "part"},
            {"low", "low", false, 4},
            {"high", "high", false, 4},
            {"weighted", "weighted", false, 2},
            {"weighted_low", "weighted low", false, 1},
            {"weighted_high", "weighted high", false, 1}};
}

std::string picture(const stgm::Figure &figure, const std::vector<stgm::Curve> &curves,
                    stgm::Reading reading, bool weighted, const std::string &source) {
    std::vector<Line> lines;
    for (std::size_t n = 0; n < curves.size(); n++) {
        if (curves[n].reading != reading)
            continue;
        Line line{readable(curves[n].name), {}};
        for (std::size_t point = 0; point < figure.points.size(); point++) {
            const stgm::Count &count = figure.counts[point][n];
            const auto [plain, of_weights] = intervals_of(count);
            const stgm::Interval interval = weighted ? of_weights : plain;
            line.dots.push_back({static_cast<double>(figure.points[point]),
                                 weighted ? count.weighted() : count.part(), interval.low,
                                 interval.high});
        }
        lines.push_back(std::move(line));
    }
    return chart(fmt::format("{} over {}",
                             weighted ? "Weighted schedulability" : "Schedulable task sets",
                             figure.axis),
                 fmt::format("after the paper's Figure {}; a kernel's drawn length is that on {}; "
                             "bars: 95 % (Wilson)",
                             figure.number, reading == stgm::Reading::full ? "all SMs" : "one SM"),
                 figure.axis, lines, source);
}

/** Shows progress on stderr. On a terminal it writes the same line again each tenth of a second;
 * elsewhere it writes a line for each tenth of the whole. */
class Progress {
  public:
    void operator()(std::uint64_t done, std::uint64_t all) {
        const auto now = std::chrono::steady_clock::now();
        const bool terminal = isatty(STDERR_FILENO);
        const std::uint64_t tenth = done * 10 / all;
        if (terminal ? now - last_ < std::chrono::milliseconds(100) && done < all : tenth == tenth_)
            return;
        last_ = now;
        tenth_ = tenth;
        const double seconds = std::chrono::duration<double>(now - began_).count();
        const double left = seconds * static_cast<double>(all - done) / static_cast<double>(done);
        std::fprintf(stderr, "%s%llu of %llu sets, %.0f s, %.0f s to go  %s",
                     terminal ? "\r" : "nvstgm: ", static_cast<unsigned long long>(done),
                     static_cast<unsigned long long>(all), seconds, left,
                     terminal && done < all ? "" : "\n");
    }

  private:
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now(), last_;
    std::uint64_t tenth_ = 0;
};

Answer<Exit> run_figures(const Arguments &arguments) {
    const auto sets = number_of(arguments, "--sets", 10'000, 1, 10'000'000);
    const auto seed = number_of(arguments, "--seed", 1, 0);
    const auto threads = number_of(arguments, "--threads",
                                   std::max(1U, std::thread::hardware_concurrency()), 1, 4096);
    for (const auto *const one : {&sets, &seed, &threads})
        if (!*one)
            return fail(one->error());
    const std::filesystem::path folder = arguments.text("--output", ".");
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error || access(folder.c_str(), W_OK) < 0)
        return fail(refused, folder.string() + " is no folder that can be written to");
    Progress progress;
    const std::vector<stgm::Figure> figures =
        stgm::figures(static_cast<std::uint64_t>(*sets), static_cast<std::uint64_t>(*seed),
                      static_cast<unsigned>(*threads),
                      [&](std::uint64_t done, std::uint64_t all) { progress(done, all); });
    const std::vector<stgm::Curve> curves = stgm::curves();
    const std::string source =
        fmt::format("{} sets a point by Table I, seed {}, speed-ups made up", *sets, *seed);
    Json all = Json::array();
    for (const stgm::Figure &figure : figures) {
        const Json rows = rows_of(figure, curves);
        all.insert(all.end(), rows.begin(), rows.end());
        const std::string name = fmt::format("figure{}", figure.number);
        std::vector<std::pair<std::string, std::string>> files{
            {name + ".csv", csv(figures_columns(), rows)}};
        for (const stgm::Reading reading : {stgm::Reading::full, stgm::Reading::one})
            for (const bool weighted : {false, true})
                files.emplace_back(
                    fmt::format("{}-{}{}.svg", name, word_of(reading), weighted ? "-weighted" : ""),
                    picture(figure, curves, reading, weighted, source));
        for (const auto &[file, text] : files)
            if (const auto written = write_file((folder / file).string(), text); !written)
                return fail(written.error());
    }
    std::string text;
    if (arguments.has("--json"))
        text = document("figures", {{"sets", *sets}, {"seed", *seed}, {"points", all}});
    else
        text = arguments.has("--csv") ? csv(figures_columns(), all) : table(figures_columns(), all);
    return write(text).map([] { return done; });
}

} // namespace

Command figures_command() {
    return {{"figures",
             "draws the paper's Figures 4 and 5 for all analyses",
             {},
             std::vector<Option>{
                 {"--sets", "for each point (default: 10000)", "N", "-n"},
                 {"--seed", "the same figures for the same seed (default: 1)", "N"},
                 {"--threads", "so many at once (default: as many as there are cores)", "N"},
                 {"--output", "where pictures and CSV go (default: here)", "FOLDER", "-o"}} +
                 form_options(),
             "Each figure comes with both readings of Table I: a kernel's drawn length is that on "
             "all SMs (full), or on\n"
             "one (one), for which analyses named _fixed have kernels that do not speed up. "
             "Progress is on stderr.",
             {{"nvstgm figures -o pictures", "all of it, in minutes"}}},
            run_figures};
}

} // namespace nvstgm
