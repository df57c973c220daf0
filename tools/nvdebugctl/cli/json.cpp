// SPDX-License-Identifier: MIT OR GPL-2.0
#include "json.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

#include "context.hpp"
#include "identity.hpp"
#include "lib/cli/message.hpp"

namespace nvdebugctl {

namespace {

Json subcontext(const nvdebug::Subcontext &entry) {
    return {{"veid", entry.veid},
            {"page_directory", place(entry.page_directory)},
            {"page_directory_volatile", or_null(entry.page_directory_volatile)},
            {"pasid", or_null(entry.pasid)},
            {"ats", or_null(entry.ats)}};
}

Json context_image(const nvdebug::Context &context) {
    return {{"id", or_null(context.id)},
            {"type", or_null(context.type)},
            {"graphics_preemption", or_null(context.graphics_preemption)},
            {"compute_preemption", or_null(context.compute_preemption)},
            {"saves", or_null(context.saves)},
            {"restores", or_null(context.restores)},
            {"wfi_saves", or_null(context.wfi_saves)},
            {"cta_saves", or_null(context.cta_saves)},
            {"gfxp_saves", or_null(context.gfxp_saves)},
            {"cilp_saves", or_null(context.cilp_saves)},
            {"image_virtual_address", hex(context.image)},
            {"image", place(context.image_place)}};
}

} // namespace

Json hex(std::uint64_t value, std::size_t digits) {
    return fmt::format("0x{:0{}x}", value, digits);
}

Json microseconds(std::uint64_t ns) {
    return static_cast<double>(ns) / 1000;
}

Json percent(const std::optional<double> &part) {
    if (!part)
        return nullptr;
    // A part that is not 0 must not be shown as 0.
    const double rounded = std::round(*part * 1e5) / 1e3;
    return rounded > 0 ? rounded : *part * 100;
}

Json aperture(const std::optional<nvdebug::Aperture> &aperture) {
    return aperture ? Json(nvdebug::name_of(*aperture)) : Json();
}

Json place(const nvdebug::Place &place) {
    return {{"address", hex(place.address)}, {"aperture", aperture(place.aperture)}};
}

Json occupant(const std::optional<nvdebug::Occupant> &occupant) {
    if (!occupant)
        return nullptr;
    const bool is_tsg = occupant->kind == nvdebug::Occupant::Kind::tsg;
    return fmt::format("{}:{}", is_tsg ? "tsg" : "channel", occupant->id);
}

Json process(const nvdebug::Process *process) {
    if (!process)
        return nullptr;
    Json data = {{"pid", process->pid},
                 {"uid", or_null(process->uid)},
                 {"command", or_null(process->command)}};
    data.update(identity(nvdebug::identity_of(*process)));
    data["cgroup"] = or_null(process->cgroup);
    return data;
}

std::vector<nvdebug::Process> owners_of(const std::vector<const nvdebug::Channel *> &channels,
                                        const nvdebug::Owners &owners) {
    std::vector<nvdebug::Process> found;
    for (const nvdebug::Channel *channel : channels) {
        const nvdebug::Process *const owner = nvdebug::owner_of(owners, *channel);
        if (owner && std::ranges::find(found, *owner) == found.end())
            found.push_back(*owner);
    }
    return found;
}

Json processes(const std::vector<nvdebug::Process> &processes) {
    Json list = Json::array();
    for (const nvdebug::Process &each : processes)
        list.push_back(process(&each));
    return list;
}

Json channel_state(const nvdebug::Channel &channel, const nvdebug::Owners &owners) {
    return {{"channel", channel.id},
            {"error", or_null(channel.error)},
            {"enabled", or_null(channel.enabled)},
            {"status", or_null(channel.status_name)},
            {"status_code", or_null(channel.status)},
            {"next", or_null(channel.next)},
            {"busy", or_null(channel.busy)},
            {"pending", or_null(channel.pending)},
            {"on_pbdma", or_null(channel.on_pbdma)},
            {"on_engine", or_null(channel.on_engine)},
            {"pbdma_busy", or_null(channel.pbdma_busy)},
            {"engine_busy", or_null(channel.engine_busy)},
            {"pbdma_faulted", or_null(channel.pbdma_faulted)},
            {"engine_faulted", or_null(channel.engine_faulted)},
            {"context_reload", or_null(channel.ctx_reload)},
            {"acquire_fail", or_null(channel.acquire_fail)},
            {"force_context_reload", or_null(channel.force_ctx_reload)},
            {"enable_set", or_null(channel.enable_set)},
            {"enable_clear", or_null(channel.enable_clear)},
            {"bound", or_null(channel.bound)},
            {"runqueue", or_null(channel.runqueue)},
            {"instance_address", hex(channel.instance_place.address)},
            {"instance_aperture", aperture(channel.instance_place.aperture)},
            {"process", process(nvdebug::owner_of(owners, channel))}};
}

Json instance_block(const nvdebug::InstanceBlock &instance) {
    Json subcontexts = Json::array();
    for (const nvdebug::Subcontext &entry : instance.subcontexts)
        subcontexts.push_back(subcontext(entry));
    return {{"same_as_channel", or_null(instance.same_as_channel)},
            {"error", or_null(instance.error)},
            {"page_tables", or_null(instance.page_tables)},
            {"big_page_size_bytes",
             instance.big_page_size_kib ? Json(*instance.big_page_size_kib * 1024ULL) : Json()},
            {"page_directory", place(instance.page_directory)},
            {"page_directory_volatile", or_null(instance.page_directory_volatile)},
            {"va_limit", hex(instance.va_limit)},
            {"target_engine", or_null(instance.target_engine)},
            {"privileged", or_null(instance.privileged)},
            {"veid", or_null(instance.veid)},
            {"pasid", or_null(instance.pasid)},
            {"ats", or_null(instance.ats)},
            {"engine_wfi", place(instance.engine_wfi)},
            {"engine_wfi_mode", or_null(instance.engine_wfi_mode)},
            {"subcontext_count", or_null(instance.subcontext_count)},
            {"subcontexts_as_channel", or_null(instance.subcontexts_as_channel)},
            {"subcontexts", std::move(subcontexts)},
            {"context_as_channel", or_null(instance.context_as_channel)},
            {"context_note", or_null(instance.context_note)},
            {"context", instance.context ? context_image(*instance.context) : Json()}};
}

Json address_space(const nvdebug::AddressSpaceUse &use) {
    return {{"page_directory", place(use.page_directory)},
            {"veid", or_null(use.veid)},
            {"channels", use.channels},
            {"error", or_null(use.error)}};
}

std::string source_kind(nvdebug::Source source, bool has_facts) {
    switch (source) {
    case nvdebug::Source::module:
        return "live";
    case nvdebug::Source::driver:
        return "driver";
    case nvdebug::Source::file:
        break;
    }
    return has_facts ? "capture" : "folder";
}

std::string source_kind(const nvdebug::Tree &tree) {
    return source_kind(tree.source(), !tree.facts().empty());
}

namespace {

Json source(const Context &context) {
    if (!context.has_tree())
        return nullptr;
    const nvdebug::Tree &tree = context.tree();
    const auto captured = tree.facts().find("captured_at");
    return {{"kind", source_kind(tree)},
            {"path", tree.path()},
            {"captured_at", captured == tree.facts().end() ? Json() : Json(captured->second)}};
}

Json gpu(const Context &context) {
    if (!context.has_gpu())
        return nullptr;
    const auto info = context.gpu().info();
    return {{"pci_address", info ? or_null(info->pci_address) : Json()},
            {"index", context.gpu().index()},
            {"chip", info ? or_null(info->chip) : Json()},
            {"generation", info ? or_null(info->generation) : Json()}};
}

Json errors(const std::vector<nvdebug::Error> &missing) {
    Json list = Json::array();
    for (const nvdebug::Error &error : missing)
        list.push_back(error_to_json(error));
    return list;
}

Json head(const Context *context) {
    return {{"schema", context && context->command().json ? "nvdebug/" + context->command().schema()
                                                          : "nvdebug/error"},
            {"schema_version", nvdebug::cli::schema_version},
            {"tool", "nvdebugctl " NVDEBUGCTL_VERSION},
            {"source", context ? source(*context) : Json()},
            {"gpu", context ? gpu(*context) : Json()},
            {"missing", context ? errors(context->missing()) : Json::array()}};
}

} // namespace

Json error_to_json(const nvdebug::Error &error) {
    const char *const name = error.number ? strerrorname_np(error.number) : nullptr;
    return {{"code", nvdebug::name_of(error.code)},
            {"errno", name ? Json(name) : Json()},
            {"path", error.path.empty() ? Json() : Json(error.path)},
            {"message", error.sentence}};
}

Json envelope(const Context &context, Json data) {
    Json document = head(&context);
    document["data"] = std::move(data);
    return document;
}

Json error_document(const Context *context, const Failure &failure) {
    Json document = head(context);
    // A machine without a GPU shows nothing that could have been read.
    if (context && context->has_tree() && context->tree().source() != nvdebug::Source::file)
        if (const auto gpus = nvdebug::gpus(context->tree()); !gpus || gpus->empty())
            document["source"] = nullptr;
    document["error"] = error_to_json(failure.error);
    if (failure.exit == bad_usage && failure.error.path.empty())
        document["error"]["code"] = "usage";
    return document;
}

std::string to_text(const Json &document, bool pretty) {
    return document.dump(pretty ? 2 : -1, ' ', false, Json::error_handler_t::replace) + '\n';
}

} // namespace nvdebugctl
