// SPDX-License-Identifier: MIT OR GPL-2.0
#include "targets.hpp"

#include <algorithm>

#include "lib/partition/text.hpp"
#include "map_file.hpp"
#include "messages.hpp"
#include "visible.hpp"

namespace nvtaskset {
namespace {

/// Returns a number of SMs as `16` or `25%` in TPCs, rounded up.
Outcome<std::size_t> tpc_count(const GpuMap &map, const std::string &size) {
    const auto typed = parse_size(size);
    if (!typed)
        return fail("--sms takes a number of SMs, or a part as 25%, not '" + size + "'",
                    Exit::bad_usage);
    const std::size_t per_tpc = map.tpcs.front().sms.size();
    std::size_t all = 0;
    for (const Tpc &tpc : map.tpcs)
        all += tpc.sms.size();
    constexpr std::size_t whole = 100'000'000;
    const std::size_t sms =
        typed->sms ? typed->sms
                   : (all * static_cast<std::size_t>(typed->percent) + whole - 1) / whole;
    if (sms > all)
        return fail("--sms " + size + ": this GPU has " + std::to_string(all) +
                        " SMs, and a partition one TPC at least",
                    Exit::bad_usage);
    return (sms + per_tpc - 1) / per_tpc;
}

/// Returns the TPCs of the GPU, or their number, by the options alone, without a look at other
/// tasks.
Outcome<Target> target_on(const Options &options, const Gpu &gpu) {
    auto map = map_of(gpu, false);
    if (!map)
        return fail(map.error());
    Target target{gpu, std::move(*map), {}, 0};
    if (!options.size.empty()) {
        const auto count = tpc_count(target.map, options.size);
        if (!count)
            return fail(count.error());
        target.count = *count;
        return target;
    }
    Outcome<Tpcs> tpcs;
    if (!options.tpcs.empty()) {
        tpcs = parse_list(options.tpcs, "TPC", static_cast<std::uint32_t>(target.map.tpcs.size()));
    } else {
        const auto wanted = parse_list(options.gpcs, "GPC", gpcs(target.map).back() + 1);
        tpcs = wanted ? tpcs_of_gpcs(target.map, *wanted) : fail(wanted.error());
    }
    if (!tpcs)
        return fail(tpcs.error());
    target.tpcs = std::move(*tpcs);
    return target;
}

/// Returns a target on each GPU of a selection.
/// @param named each GPU was asked for by name, so that an error on any of them is an error.
/// Otherwise a GPU that cannot be partitioned is left out.
Outcome<std::vector<Target>> targets_on(const Options &options, const Selection &chosen,
                                        bool named) {
    const std::size_t gpus = chosen.gpus.size() + chosen.left_out.size();
    std::vector<Target> targets;
    std::vector<Refusal> left_out;
    for (const Gpu &gpu : chosen.gpus) {
        auto target = target_on(options, gpu);
        if (target)
            targets.push_back(std::move(*target));
        else if (named)
            return fail(target.error());
        else
            left_out.push_back(
                {(gpus > 1 ? "GPU " + std::to_string(gpu.number) + " is left out: " : "") +
                     target.error().sentence,
                 target.error().exit});
    }
    if (targets.empty())
        return !left_out.empty() ? fail(left_out.front())
               : chosen.left_out.empty()
                   ? fail("no GPU of this machine can be partitioned", Exit::not_supported)
                   : fail(chosen.left_out.front());
    // Even -q does not suppress the message that a GPU has no partition.
    for (const Refusal &each : left_out)
        say(each.sentence);
    for (const std::string &sentence : chosen.left_out)
        say(sentence);
    if (targets.size() > State::slots_max)
        return fail("a task has partitions on " + std::to_string(State::slots_max) +
                    " GPUs at most, and " + std::to_string(targets.size()) +
                    " are chosen; -i chooses some");
    return targets;
}

bool is_named(const Options &options) {
    return options.gpu && *options.gpu != "all";
}

} // namespace

Outcome<std::vector<Target>> targets_of_command(const Options &options) {
    auto gpus = Gpus::find();
    if (!gpus)
        return fail(gpus.error());
    const Visibility visibility = Visibility::own();
    const std::string limit = "CUDA_VISIBLE_DEVICES is '" + visibility.devices.value_or("") + "'";
    if (!options.gpu) {
        const auto visible = visible_gpus(*gpus, visibility);
        if (!visible)
            return fail(visible.error());
        if (!visible->empty())
            return targets_on(options, gpus->some(*visible), false);
        say(limit + ": CUDA shows the command no GPU that can be kept to a partition");
        return targets_on(options, gpus->all(), false);
    }
    const auto chosen = select(*gpus, *options.gpu);
    if (!chosen)
        return fail(chosen.error());
    if (visibility.devices)
        if (const auto visible = visible_gpus(*gpus, visibility);
            visible && std::ranges::none_of(chosen->gpus, [&](const Gpu &gpu) {
                return std::ranges::count(*visible, gpu.number);
            }))
            say(limit + ", and so CUDA shows the command no GPU of -i " + *options.gpu +
                ": on those that it shows, the command is kept to no partition");
    return targets_on(options, *chosen, is_named(options));
}

Outcome<std::vector<Target>> targets_of_task(const Options &options, const Task &task) {
    auto gpus = Gpus::find();
    if (!gpus)
        return fail(gpus.error());
    if (options.gpu) {
        const auto chosen = select(*gpus, *options.gpu);
        return chosen ? targets_on(options, *chosen, is_named(options)) : fail(chosen.error());
    }
    Selection has;
    for (const Slot &slot : task.page->state().slots)
        if (const auto partition = read_partition(slot))
            for (const Gpu &gpu : gpus->with_uuid(uuid_text(partition->uuid)))
                has.gpus.push_back(gpu);
    if (!has.gpus.empty())
        return targets_on(options, has, true);
    const auto visible = visible_gpus(*gpus, Visibility::of(options.pid));
    if (!visible)
        return fail(visible.error());
    return targets_on(options, visible->empty() ? gpus->all() : gpus->some(*visible), false);
}

} // namespace nvtaskset
