// SPDX-License-Identifier: MIT OR GPL-2.0
#include "advise.hpp"

#include <cstring>
#include <fmt/format.h>

#include "advice.hpp"
#include "lib/base/input_file.hpp"
#include "lib/base/output_file.hpp"
#include "lib/base/printable.hpp"
#include "lib/base/quantity.hpp"
#include "lib/cli/message.hpp"
#include "lib/recording/file.hpp"
#include "lib/simulation/models.hpp"
#include "tools/nvqos/goals.hpp"
#include "watch.hpp"

namespace nvqos {

namespace {

using nvdebug::base::printable;
using nvdebug::base::short_time;

/// The tasks and turns of a recording or of GPUs.
struct Source {
    std::string name; ///< Advice::source
    std::string in;   ///< the same place, as sentences name it after `in`
    simulation::Sighting sighting;
};

Outcome<Source> from_recording(const std::string &path) {
    simulation::Watched watched;
    recording::RecordedFile file;
    const auto whole = file.replay(path, watched);
    if (!whole)
        return fail(of_file(whole.error().number), whole.error().sentence);
    const std::string name = nvdebug::base::input_name(path);
    auto sighting = watched.sighting(name);
    const std::string cut = name + " is incomplete: its end was cut off";
    if (!sighting)
        return fail(bad_usage, sighting.error() + (*whole ? "" : "; " + cut));
    if (!*whole)
        sighting->notes.push_back(cut);
    return Source{"A recording, " + name, name, std::move(*sighting)};
}

Outcome<Source> from_gpus(const nvdebug::cli::Arguments &arguments, const Open &open) {
    constexpr nvdebug::base::TimeRule lengths{
        .least = 100 * qos::ms, .most = 600 * qos::second, .bare = "s"};
    const auto length = arguments.time_ns("--for", 10 * qos::second, lengths);
    if (!length)
        return fail(bad_usage, length.error());
    std::vector<std::string> gpus;
    for (const std::string &names : arguments.all("--gpu"))
        if (auto added = add_gpus(names, gpus); !added)
            return fail(bad_usage, "--gpu: " + added.error().sentence);
    simulation::Watched watched;
    const auto time = static_cast<qos::Ns>(*length);
    if (auto done = watch(open, gpus, time, watched); !done)
        return tl::unexpected(done.error());
    const std::string seconds = short_time(time, " ");
    auto sighting = watched.sighting(seconds);
    if (!sighting)
        return fail(failed, sighting.error());
    return Source{"The running tasks", seconds, std::move(*sighting)};
}

/// Returns the constants of the first GPU whose product has a model. Without one they are an H100's.
simulation::Gpus constants_for(const simulation::Sighting &sighting) {
    for (const auto &[chip, product] : sighting.cards)
        if (const simulation::GpuModel *const model = simulation::model_of_product(product)) {
            simulation::Gpus gpus = model->gpus;
            gpus.model = model;
            return gpus;
        }
    return {};
}

Outcome<void> write_scenario(const std::string &path, const simulation::Scenario &scenario) {
    constexpr mode_t for_its_owner = 0600; // like a recording, because it names processes
    if (const int error =
            nvdebug::base::write_file(path, simulation::text_of(scenario), for_its_owner))
        return fail(of_file(error),
                    fmt::format("cannot write {}: {}", printable(path), std::strerror(error)));
    return {};
}

} // namespace

Outcome<Exit> advise(const nvdebug::cli::Arguments &arguments, const Open &open) {
    const bool has_recording = arguments.has("--from");
    for (const char *const option : {"--for", "--gpu"})
        if (has_recording && arguments.has(option))
            return fail(bad_usage, fmt::format("{} has no effect with --from, as a recording has "
                                               "its length and its GPUs",
                                               option));
    if (arguments.has("--output") && arguments.text("--output") == "-")
        return fail(bad_usage, "--output names a file for the scenario, as run.json: the advice is "
                               "on standard output");
    if (has_recording && arguments.has("--output"))
        if (const auto why = nvdebug::base::why_not_write("--output", arguments.text("--output"),
                                                          arguments.text("--from")))
            return fail(bad_usage, *why);
    auto source =
        has_recording ? from_recording(arguments.text("--from")) : from_gpus(arguments, open);
    if (!source)
        return tl::unexpected(source.error());
    Advice advice{std::move(source->name), std::move(source->sighting), {}, {}};
    advice.model = simulation::model_of(advice.sighting.seen, "as seen in " + source->in,
                                        constants_for(advice.sighting));
    if (arguments.has("--output"))
        if (auto written = write_scenario(arguments.text("--output"), advice.model.scenario);
            !written)
            return tl::unexpected(written.error());
    advice.proposals = proposals_for(advice.model);
    if (const int error =
            nvdebug::cli::write_out(arguments.has("--json") ? json_of(advice) : text_of(advice)))
        return fail(failed, std::string("cannot write to stdout: ") + std::strerror(error));
    return done;
}

} // namespace nvqos
