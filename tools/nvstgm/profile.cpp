// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <set>

#include "check.hpp"
#include "forms.hpp"
#include "keeper.hpp"
#include "lib/base/words.hpp"
#include "program.hpp"
#include "recorded.hpp"

namespace nvstgm {
namespace {

constexpr std::size_t most_samples = 1'000'000;
constexpr std::size_t any_gpu = 1024; ///< more TPCs than any GPU has
constexpr double us_per_ms = 1000, longest_ms = 3'600'000;

/// Returns the times in ms that a program printed, each in a line of its own, and skips other
/// lines.
Outcome<std::vector<double>> times_in(const std::string &text, const std::string &program) {
    std::vector<double> found;
    for (std::size_t at = 0; at < text.size() && found.size() < most_samples;) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string_view line(text.data() + at, end - at);
        at = end + 1;
        while (!line.empty() && (line.back() == ' ' || line.back() == '\r' || line.back() == '\t'))
            line.remove_suffix(1);
        while (!line.empty() && (line.front() == ' ' || line.front() == '\t'))
            line.remove_prefix(1);
        double ms = 0;
        const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), ms);
        if (line.empty() || error != std::errc() || rest != line.data() + line.size())
            continue;
        if (!(ms > 0 && ms <= longest_ms))
            return fail(printable(program) + " printed '" + printable(std::string(line)) +
                        "', which is no time in ms");
        found.push_back(ms);
    }
    if (found.empty())
        return fail(
            printable(program) +
            " printed no time: a line of stdout that is a number alone, in ms, is a kernel's");
    return found;
}

/// Returns the numbers of TPCs to measure, by `--tpcs` or the default, on a GPU of @p all TPCs.
Outcome<std::vector<std::size_t>> grid_of(const Arguments &arguments, std::size_t all) {
    std::set<std::size_t> grid{1}; // the list of a kernel's times begins with 1
    if (!arguments.has("--tpcs")) {
        for (const std::size_t tpcs : {1U, 2U, 4U, 8U, 16U, 33U, 66U})
            if (tpcs < all)
                grid.insert(tpcs);
        grid.insert(all);
        return std::vector(grid.begin(), grid.end());
    }
    const std::string typed = arguments.text("--tpcs");
    for (std::size_t at = 0; at <= typed.size();) {
        const std::size_t end = std::min(typed.find(',', at), typed.size());
        const auto tpcs = nvdebug::base::parse_whole(typed.substr(at, end - at), 1,
                                                     static_cast<std::int64_t>(all));
        if (!tpcs)
            return fail(fmt::format("--tpcs takes numbers of TPCs, as 1,2,4, from 1 to {}, not {}",
                                    all == any_gpu ? "all of the GPU" : std::to_string(all),
                                    nvdebug::base::quote(typed)));
        grid.insert(static_cast<std::size_t>(*tpcs));
        at = end + 1;
    }
    return std::vector(grid.begin(), grid.end());
}

/// Returns a GPU's clocks in MHz now, or null if nvidia-smi does not show them.
Json clocks(const std::string &uuid) {
    const auto text = output_of({"nvidia-smi", "--query-gpu=clocks.sm,clocks.mem",
                                 "--format=csv,noheader,nounits", "-i", uuid});
    int sm = 0, memory = 0;
    if (!text || std::sscanf(text->c_str(), "%d, %d", &sm, &memory) != 2)
        return nullptr;
    return {{"sm", sm}, {"memory", memory}};
}

std::int64_t us(double ms) {
    return static_cast<std::int64_t>(std::ceil(ms * us_per_ms));
}

std::vector<Column> profile_columns() {
    return {{"tpcs", "TPCs"},
            {"samples", "samples", false, 3},
            {"min", "min"},
            {"median", "median"},
            {"p99", "p99"},
            {"max", "max"},
            {"kernel", "kernel"},
            {"/clocks/sm", "SM MHz", false, 2},
            {"/clocks/memory", "memory MHz", false, 1}};
}

/// Returns e(1), e(2), …. A number of TPCs between two measured numbers gets the time of the
/// smaller number.
std::vector<stgm::Time> kernel_of(const Json &rows) {
    std::vector<stgm::Time> kernel;
    stgm::Time last = rows[0]["kernel"];
    for (const Json &row : rows) {
        while (kernel.size() + 1 < row["tpcs"].get<std::size_t>())
            kernel.push_back(last);
        last = row["kernel"];
        kernel.push_back(last);
    }
    return kernel;
}

/// The command line of `profile`.
struct ProfileRequest {
    std::int64_t runs, margin; ///< margin in percent
    stgm::Time to_device, from_device;
    std::string gpu;               ///< its UUID
    std::vector<std::size_t> grid; ///< numbers of TPCs, ascending
};

Answer<ProfileRequest> profile_request(const Arguments &arguments, const Keeper &keeper) {
    if (const auto form = knows_suffix(arguments, "--output", {".json"},
                                       "FILE.json or FILE for a segment in JSON");
        !form)
        return fail(form.error());
    const auto runs = number_of(arguments, "--runs", 3, 1, 1000);
    const auto margin = number_of(arguments, "--margin", 10, 0, 1000);
    const auto in = time_of(arguments, "--to-device", 0, 0, "us"),
               out = time_of(arguments, "--from-device", 0, 0, "us");
    for (const auto *const one : {&runs, &margin, &in, &out})
        if (!*one)
            return fail(one->error());
    // Numbers that are wrong for every GPU are refused before nvtaskset asks the GPU.
    if (const auto typed = grid_of(arguments, any_gpu); !typed)
        return fail(typed.error());
    const auto gpu = keeper.choose_gpu();
    if (!gpu)
        return fail(gpu.error());
    const auto grid = grid_of(arguments, gpu->tpcs);
    if (!grid)
        return fail(grid.error());
    return ProfileRequest{*runs, *margin, *in, *out, gpu->uuid, *grid};
}

/// Runs the program on @p tpcs TPCs as often as was asked for, and returns the row of its times.
Answer<Json> measure_on(std::size_t tpcs, const ProfileRequest &request, const Keeper &keeper,
                        const std::vector<std::string> &command) {
    std::vector<double> times;
    Json clock;
    for (std::int64_t n = 0; n < request.runs; n++) {
        const auto text = output_of(
            keeper.words("0" + (tpcs > 1 ? "-" + std::to_string(tpcs - 1) : ""), command));
        if (!text)
            return fail(failed, fmt::format("on {} TPCs: {}", tpcs, text.error().sentence));
        const auto found = times_in(*text, command[0]);
        if (!found)
            return fail(failed, found.error());
        times.insert(times.end(), found->begin(), found->end());
        clock = clocks(request.gpu); // while the GPU is still warm from the work
    }
    std::ranges::sort(times);
    const auto at = [&](double part) {
        return us(times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1))]);
    };
    return Json{{"tpcs", tpcs},
                {"samples", times.size()},
                {"min", at(0)},
                {"median", at(0.5)},
                {"p99", at(0.99)},
                {"max", at(1)},
                {"kernel", stgm::divide_up(at(1) * (100 + request.margin), 100)},
                {"clocks", clock}};
}

/// Raises each time of `kernel` to that on more TPCs, so that times do not increase with TPCs.
/// Returns how many it raised.
std::size_t raise_kernels(Json &rows) {
    std::size_t raised = 0;
    for (std::size_t n = rows.size() - 1; n-- > 0;)
        if (rows[n]["kernel"] < rows[n + 1]["kernel"]) {
            rows[n]["kernel"] = rows[n + 1]["kernel"];
            raised++;
        }
    return raised;
}

std::vector<Column> recorded_columns() {
    return {{"name", "task", true},
            {"jobs", "jobs", false, 3},
            {"period", "period"},
            {"usual", "usual", false, 4},
            {"gpu_segments", "GPU segments", false, 2},
            {"kernels", "kernels"},
            {"percent", "had %", false, 1}};
}

Answer<RecordingRules> recording_rules(const Arguments &arguments) {
    for (const char *const option : {"--tpcs", "--runs", "--nvtaskset", "--no-mps"})
        if (arguments.has(option))
            return fail(fmt::format("{} is for a COMMAND, and has no effect with --from", option));
    if (!arguments.words.empty())
        return fail("--from makes a set of a recording, and runs no COMMAND as " +
                    nvdebug::base::quote(arguments.words[0]));
    if (const auto form = knows_suffix(arguments, "--output", {".json"}, set_form); !form)
        return fail(form.error());
    if (const auto other = are_other_files(arguments, {"--output"}, {arguments.text("--from")});
        !other)
        return fail(other.error());
    const auto margin = number_of(arguments, "--margin", 10, 0, 1000);
    const auto in = time_of(arguments, "--to-device", 0, 0, "us"),
               out = time_of(arguments, "--from-device", 0, 0, "us"),
               pause = time_of(arguments, "--job-pause", 1000, 1, "us");
    for (const auto *const one : {&margin, &in, &out, &pause})
        if (!*one)
            return fail(one->error());
    return RecordingRules{arguments.text("--gpu", ""), *margin, *in, *out, *pause};
}

/// Makes a task set of a recording.
Answer<Exit> run_from_recording(const Arguments &arguments) {
    const auto rules = recording_rules(arguments);
    if (!rules)
        return fail(rules.error());
    const auto found = set_of_recording(arguments.text("--from"), *rules);
    if (!found)
        return fail(found.error());
    const Json set = stgm::to_json(found->set);
    if (arguments.has("--output"))
        if (const auto written = write_file(arguments.text("--output"), set.dump(1) + "\n");
            !written)
            return fail(written.error());
    std::string text;
    if (arguments.has("--json")) {
        text = document("recorded", {{"source", found->source},
                                     {"gpu", found->gpu},
                                     {"seconds", found->seconds},
                                     {"time_unit", "us"},
                                     {"margin", rules->margin},
                                     {"job_pause", rules->job_pause},
                                     {"notes", found->notes},
                                     {"rows", found->rows},
                                     {"taskset", set}});
    } else {
        for (const std::string &note : found->notes)
            say(note);
        text = arguments.has("--csv")
                   ? csv(recorded_columns(), found->rows)
                   : table(recorded_columns(), found->rows) + "\n" +
                         sentence(fmt::format(
                             "'kernels' is the sum of a job's longest GPU times and {} % more; the "
                             "set's one SM is the whole of gpu{} (times in us)",
                             rules->margin, found->gpu));
    }
    return write(text).map([] { return done; });
}

Answer<Exit> run_profile(const Arguments &arguments) {
    if (arguments.has("--from"))
        return run_from_recording(arguments);
    if (arguments.words.empty())
        return fail("'profile' takes COMMAND, or --from RECORDING; 'nvstgm profile --help' says "
                    "more");
    if (arguments.has("--job-pause"))
        return fail("--job-pause has an effect with --from alone");
    const Keeper keeper = Keeper::of(arguments);
    const auto request = profile_request(arguments, keeper);
    if (!request)
        return fail(request.error());
    Json rows = Json::array();
    for (const std::size_t tpcs : request->grid) {
        const auto row = measure_on(tpcs, *request, keeper, arguments.words);
        if (!row)
            return fail(row.error());
        rows.push_back(*row);
    }
    const std::size_t raised = raise_kernels(rows);
    const Json segment{{"gpu",
                        {{"to_device", request->to_device},
                         {"kernel", kernel_of(rows)},
                         {"from_device", request->from_device}}}};
    if (arguments.has("--output"))
        if (const auto written = write_file(arguments.text("--output"), segment.dump() + "\n");
            !written)
            return fail(written.error());
    std::string text;
    if (arguments.has("--json"))
        text = document("profile", {{"command", arguments.words},
                                    {"time_unit", "us"},
                                    {"margin", request->margin},
                                    {"runs", request->runs},
                                    {"mps", keeper.mps},
                                    {"raised", raised},
                                    {"rows", rows},
                                    {"segment", segment}});
    else if (arguments.has("--csv"))
        text = csv(profile_columns(), rows);
    else
        text = table(profile_columns(), rows) + "\n" +
               sentence(fmt::format(
                   "'kernel' is the largest of the samples and {} % more{} (times in us):",
                   request->margin, raised ? ", and not less than on more TPCs" : "")) +
               segment.dump() + "\n";
    return write(text).map([] { return done; });
}

} // namespace

Command profile_command() {
    return {
        {"profile",
         "measures a program's kernel, as a segment, or makes a set of a recording",
         {},
         std::vector<Option>{
             {"--tpcs", "1 and these numbers (default: 1, 2, 4, 8, 16, 33, 66, and all)", "LIST"},
             {"--runs", "of the program on each of them (default: 3)", "N", "-n"},
             {"--margin", "above the largest time, in percent (default: 10)", "PERCENT"},
             {"--to-device", "each segment's copy to the device (default: 0)", "TIME"},
             {"--from-device", "its copy back (default: 0)", "TIME"},
             {"--from", "a recording of 'nvdebugctl record' (NDJSON), instead of COMMAND",
              "RECORDING"},
             {"--job-pause", "with --from: a pause of at least this ends a job (default: 1ms)",
              "TIME"},
             {"--output", "the segment alone, or the set, as JSON", "FILE", "-o"}} +
             keeper_options() + form_options(),
         "COMMAND prints a line for each kernel that it measured: a number alone, in ms. Other "
         "lines are left out.\n"
         "nvtaskset keeps it to TPCs 0, 0-1, 0-3 …; which TPCs it has in a set may matter, too.",
         {{"nvstgm profile -o segment.json -- ./inference --times",
           "its largest times on seven numbers of TPCs"},
          {"nvstgm profile --from run.ndjson -o recorded.json",
           "a set of the processes that shared the GPU"}},
         nvdebug::cli::Verb::More::command,
         {{"nvstgm profile [OPTION]... COMMAND [ARGUMENT]...", "a segment"},
          {"nvstgm profile [OPTION]... --from RECORDING", "a set"}}},
        run_profile};
}

} // namespace nvstgm
