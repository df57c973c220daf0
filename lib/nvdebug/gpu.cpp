// SPDX-License-Identifier: MIT OR GPL-2.0
#include "gpu.hpp"
#include "error.hpp"
#include "file.hpp"
#include "lib/base/text.hpp"
#include "nvdebug/parse.hpp"
#include "refusal.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <map>

namespace nvdebug {

Result<std::vector<Gpu>> gpus(const Tree &tree) {
    return tree.list("").map([&](const std::vector<std::string> &names) {
        std::vector<Gpu> found;
        for (std::string_view name : names) {
            if (!text::take_prefix(name, "gpu"))
                continue;
            const auto index = text::number(name);
            // Only the module's spelling counts, so that each GPU has one name.
            if (index && *index <= std::numeric_limits<std::uint32_t>::max() &&
                std::to_string(*index) == name)
                found.emplace_back(tree, static_cast<std::uint32_t>(*index));
        }
        return found;
    });
}

namespace {

/// Returns the sentence for GPUs to which access is denied with the same errno, the first one's of
/// which is @p why.
std::string sentence_on_left_out(const std::vector<std::uint32_t> &indices, const Error &why) {
    const bool is_one = indices.size() == 1;
    const std::string who = why.number == EACCES ? "you have" : "this container or unit has";
    return (is_one ? "GPU " : "GPUs ") + fold_ids(indices) + (is_one ? " is" : " are") +
           " left out: " + who + " no access to " + (is_one ? "it (" : "them (") + why.path + ": " +
           ::strerrordesc_np(why.number) + ")";
}

} // namespace

Result<UsableGpus> usable_gpus(const Tree &tree) {
    return gpus(tree).map([&](const std::vector<Gpu> &all) {
        struct LeftOut {
            Error why;
            std::vector<std::uint32_t> indices;
        };
        std::map<int, LeftOut> left_out; // by errno
        UsableGpus usable;
        for (const Gpu &gpu : all)
            if (const auto why = tree.impl().withheld(gpu.folder()))
                left_out.try_emplace(why->number, LeftOut{*why, {}})
                    .first->second.indices.push_back(gpu.index());
            else
                usable.gpus.push_back(gpu);
        if (usable.gpus.empty())
            return UsableGpus{all, {}};
        for (const auto &[number, group] : left_out)
            usable.left_out.push_back(sentence_on_left_out(group.indices, group.why));
        return usable;
    });
}

namespace {

/// Returns the feature of `info` that a file belongs to; empty: every chip has the file, or it is
/// unknown.
std::string_view feature_of(std::string_view file) {
    struct Row {
        std::string_view prefix, feature;
    };
    // The first row that fits is used.
    static constexpr Row rows[] = {
        {"device_info", "device_info"},
        {"runlist", "runlist"},
        {"contexts", "contexts"},
        {"engines", "engines"},
        {"translate", "contexts"},
        {"disable_channel", "channel_control"},
        {"enable_channel", "channel_control"},
        {"preempt_tsg", "runlist_control"},
        {"switch_to_tsg", "runlist_control"},
        {"set_timeslice", "runlist_control"},
        {"preempt_runlist", "runlist_control"},
        {"resubmit_runlist", "runlist_control"},
        {"scheduling", "runlist_control"},
        {"preemption_mode", "preemption_mode"},
        {"pce_map", "copy_topology"},
        {"lce_for_pce", "copy_topology"},
        {"shared_lce_for_grce", "copy_topology"},
        {"copy_topology", "copy_topology"},
        {"sm_map", "work_distributor"},
        {"work_distributor", "work_distributor"},
        {"num_", "gpc_topology"},
        {"gpc", "gpc_topology"},
    };
    for (const Row &row : rows)
        if (file.starts_with(row.prefix))
            return row.feature;
    return {};
}

/// Returns the runlist's id from `runlistY` or `runlistY_brief`.
std::optional<std::uint64_t> runlist_of(std::string_view file) {
    if (!text::take_prefix(file, "runlist"))
        return std::nullopt;
    return text::number(text::take_until(file, '_'));
}

} // namespace

Result<std::string> read_file(const Gpu &gpu, const std::string &file) {
    return gpu.tree().read(gpu.folder() + "/" + file).map_error([&](Error error) {
        return why_missing(gpu, file, std::move(error));
    });
}

Error why_missing(const Gpu &gpu, const std::string &file, Error error) {
    if (error.code != ErrorCode::not_found || file == "info")
        return error;
    const auto info = gpu.info();
    if (!info)
        return error;
    const std::string chip = text::printable(info->chip.value_or("unknown chip"));
    const std::string who = gpu.folder() + " (" + chip + ")";
    const Feature *const feature = info->feature(std::string(feature_of(file)));
    const auto runlist = runlist_of(file);
    if (file == "owners") {
        const auto &facts = gpu.tree().facts();
        const auto source = facts.find("source");
        const bool by_driver =
            source != facts.end() && source->second.starts_with("NVIDIA's driver");
        error.code = ErrorCode::unsupported;
        error.sentence =
            by_driver
                ? gpu.tree().path() + " was captured through " + text::printable(source->second) +
                      " by a version that did not record which process made a channel; "
                      "capture again"
                : "which process made a channel is known to NVIDIA's driver alone, and " +
                      gpu.tree().path() +
                      " is not from it; read through the driver, or a capture made so";
    } else if (feature && !feature->available) {
        error.code = ErrorCode::unsupported;
        error.sentence = who + " has no " + file + ": " + text::printable(feature->reason);
    } else if (runlist && !std::ranges::count(info->runlists, *runlist)) {
        error.sentence = no_runlist(gpu, *info, *runlist);
    } else if (file == "local_memory" && !info->video_memory) {
        error.code = ErrorCode::unsupported;
        error.sentence = who + " has no " + file + ": no public register of it tells the size";
    }
    return error;
}

Error in_file(const Gpu &gpu, const std::string &file, Error error) {
    error.path = gpu.path(file);
    error.sentence = error.path + " is not what docs/proc.md says, " + error.sentence +
                     "; the module and this library may be of different versions";
    return error;
}

namespace {

/// Writes a request, and returns the control's answer.
Result<Performed> write_request(const Gpu &gpu, const std::string &file, const std::string &text) {
    if (!gpu.tree().live())
        return gpu.tree().impl().request(gpu.folder() + "/" + file, text);
    return write_control(gpu.path(file), text, answers(file)).map_error([&](int number) {
        return why_refused(gpu, file, text,
                           why_missing(gpu, file,
                                       cannot_control(gpu.tree().impl(), gpu.folder() + "/" + file,
                                                      text, number)));
    });
}

} // namespace

Gpu::Gpu(Tree tree, std::uint32_t index) : tree_(std::move(tree)), index_(index) {}

std::string Gpu::folder() const {
    return "gpu" + std::to_string(index_);
}

std::string Gpu::path(const std::string &name) const {
    return path_in(tree_.impl(), folder() + "/" + name);
}

Result<Info> Gpu::info() const {
    return parse_file(*this, "info", parse_info);
}

Result<std::vector<Engine>> Gpu::engines() const {
    return parse_file(*this, "device_info", parse_device_info);
}

Result<std::vector<EngineState>> Gpu::engine_states(Detail detail) const {
    if (detail == Detail::brief && tree_.source() == Source::driver)
        return parse_file(*this, "engines_brief", parse_engines);
    return parse_file(*this, "engines", parse_engines);
}

Result<Runlist> Gpu::runlist(std::uint32_t id, Detail detail) const {
    const std::string file = "runlist" + std::to_string(id);
    if (detail == Detail::brief) {
        auto brief = parse_file(*this, file + "_brief", parse_runlist);
        // Folders that people copy by hand may have only the full list, which includes the brief
        // one.
        if (brief || brief.error().code != ErrorCode::not_found)
            return brief;
    }
    return parse_file(*this, file, parse_runlist);
}

Result<std::vector<AddressSpaceUse>> Gpu::address_spaces() const {
    return parse_file(*this, "contexts", parse_contexts);
}

Result<Owners> Gpu::owners() const {
    return parse_file(*this, "owners", parse_owners);
}

Result<WorkDistributor> Gpu::work_distributor() const {
    return parse_file(*this, "work_distributor", parse_work_distributor);
}

Result<std::map<std::uint32_t, bool>> Gpu::scheduling() const {
    return parse_file(*this, "scheduling", parse_scheduling);
}

Result<std::uint64_t> Gpu::local_memory_bytes() const {
    return parse_file(*this, "local_memory", parse_number);
}

Result<std::uint64_t> Gpu::ptimer_ns() const {
    return parse_file(*this, "ptimer", parse_number);
}

Result<Translation> Gpu::translate(const std::string &request) const {
    const std::string file = "translate";
    return write_request(*this, file, request).and_then([&](const Performed &performed) {
        return parse_translation(performed.answer).map_error([&](Error error) {
            return in_file(*this, file, std::move(error));
        });
    });
}

Result<ContextSwitches> Gpu::context_switches(std::uint32_t ms) const {
    const std::string file = "context_switches";
    if (tree_.source() != Source::driver)
        return tl::unexpected(Error{ErrorCode::unsupported, 0, path(file),
                                    "only NVIDIA's driver records context switches, and " +
                                        tree_.path() + " is not from it"});
    return write_request(*this, file, std::to_string(ms)).and_then([&](const Performed &performed) {
        return parse_context_switches(performed.answer).map_error([&](Error error) {
            return in_file(*this, file, std::move(error));
        });
    });
}

Result<std::unique_ptr<SwitchReader>> Gpu::follow_switches() const {
    return tree_.impl().follow_switches(folder());
}

Result<std::string> Gpu::perform(const Request &request) const {
    return write_request(*this, request.file, request.text).map([](Performed performed) {
        return std::move(performed.answer);
    });
}

Result<Lease> Gpu::lease(const Request &request) const {
    if (!request.leasable)
        return tl::unexpected(Error{ErrorCode::invalid, 0, path(request.file),
                                    "what " + request.file +
                                        " does cannot be undone, so there is no lease of it; make "
                                        "the request without one"});
    return write_request(*this, request.file, "lease " + request.text).map([](Performed performed) {
        return Lease(std::move(performed.lease), std::move(performed.answer),
                     std::move(performed.left));
    });
}

Result<std::unique_ptr<TaskHold>> Gpu::hold(Pids pids, const HoldOptions &options) const {
    return tree_.impl()
        .hold(folder(), {{pids.begin(), pids.end()}}, options)
        .and_then([](TaskHolds held) { return std::move(held.front()); });
}

Result<TaskHolds> Gpu::hold_each(Pids pids, const HoldOptions &options) const {
    std::vector<std::vector<std::uint32_t>> groups;
    for (const std::uint32_t pid : pids)
        groups.push_back({pid});
    return tree_.impl().hold(folder(), groups, options);
}

Result<LeftOvers> Gpu::left_overs() const {
    return tree_.impl().left_overs(folder());
}

Result<LeftOvers> Gpu::restore(Pids pids) const {
    return tree_.impl().restore(folder(), {pids.begin(), pids.end()});
}

} // namespace nvdebug
