// SPDX-License-Identifier: MIT OR GPL-2.0
#include "control/layout.hpp"

#include "base/error.hpp"
#include "host/group.hpp"
#include "regs/ctxsw.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <sstream>
#include <string_view>

namespace nvmodel {
namespace {

using Json = nlohmann::ordered_json;

Json place(PhysicalAddress at) {
    return {{"address", hex(at.address)}, {"aperture", name_of(at.aperture)}};
}

template <typename Value>
Json or_null(bool there, const Value &value) {
    return there ? Json(value) : Json(nullptr);
}

Json page_directory(const InstanceSpace &space) {
    Json directory = place(space.page_directory);
    directory["volatile"] = space.is_volatile();
    return directory;
}

Json subcontexts(const InstanceBlock &block) {
    Json all = Json::array();
    for (std::size_t veid = 0; veid < block.spaces.size(); ++veid) {
        const InstanceSpace &space = block.spaces[veid];
        Json entry{{"veid", veid}};
        entry.update(page_directory(space));
        entry["pasid"] = space.pasid;
        entry["ats"] = space.ats;
        all.push_back(std::move(entry));
    }
    return all;
}

/// Returns the name of a field's value, or the number if it has none.
Json named(std::uint32_t value, std::span<const std::string_view> names) {
    return value < names.size() ? Json(names[value]) : Json(value);
}

std::string type_name(std::uint32_t type) {
    switch (type) {
    case regs::ctxsw::type_opengl:
        return "opengl";
    case regs::ctxsw::type_compute:
        return "compute";
    default:
        return std::to_string(type);
    }
}

/// Describes a context's header with its present contents in memory.
Json context_of(const Gpu &gpu, const EngineContext &context, unsigned subcontext) {
    using namespace regs::ctxsw;
    const ContextTraits &traits = gpu.board().generation->context;
    const auto word = [&](std::uint32_t offset) {
        const PhysicalAddress at{context.address.aperture, context.address.address + offset};
        return static_cast<std::uint32_t>(gpu.memory().read_value(at, 4).value_or(0));
    };
    constexpr std::array<std::string_view, 2> graphics{"WFI", "GFXP"};
    constexpr std::array<std::string_view, 3> compute{"WFI", "CTA", "CILP"};
    const bool modes = traits.preemption_modes;
    return {
        {"header", place(context.header(subcontext))},
        {"image_va", hex(context.va)},
        {"image", place(context.address)},
        {"id", word(context_id)},
        {"type", or_null(traits.typed, type_name(ctl_type.get(word(ctl))))},
        {"graphics_preemption",
         or_null(modes,
                 named(preemption_control.get(word(graphics_preemption_options)), graphics))},
        {"compute_preemption",
         or_null(modes, named(preemption_control.get(word(compute_preemption_options)), compute))},
        {"saves", word(num_save)},
        {"restores", word(num_restore)},
        {"wfi_saves", or_null(modes, word(num_wfi_save))},
        {"cta_saves", or_null(modes, word(num_cta_save))},
        {"gfxp_saves", or_null(modes, word(num_gfxp_save))},
        {"cilp_saves", or_null(modes, word(num_cilp_save))},
    };
}

Json channel_of(const Gpu &gpu, const PlannedChannel &planned, const Driver::BuiltChannel &built) {
    const Generation &generation = *gpu.board().generation;
    const InstanceBlock &block = built.block;
    const InstanceSpace &space = block.space();
    const bool subcontexts_exist = generation.subcontexts;
    const auto target = ramfc_target(generation, block);
    Json channel{
        {"runlist", planned.runlist},
        {"tsg", planned.tsg ? Json(gpu.plan().tsgs[*planned.tsg].id) : Json(nullptr)},
        {"channel", planned.id},
        {"task", planned.task},
        {"engine", to_string(planned.engine)},
        {"instance", place(built.instance)},
        {"page_tables", static_cast<unsigned>(space.format.version)},
        {"big_page_kib", space.format.big_page / mmu::kib},
        {"page_directory", page_directory(space)},
        {"veid", or_null(subcontexts_exist, block.subcontext)},
        {"pasid", or_null(subcontexts_exist, space.pasid)},
        {"ats", or_null(subcontexts_exist, space.ats)},
        {"target_engine", or_null(target.has_value(), target.value_or(0))},
        {"privileged", or_null(generation.instance.ramfc != RamfcForm::gb100, block.privileged)},
        {"engine_context", nullptr},
        {"subcontexts", subcontexts_exist ? subcontexts(block) : Json(nullptr)},
        {"context", nullptr},
    };
    if (block.engine_context)
        channel["engine_context"] = {{"address", hex(*block.engine_context)},
                                     {"aperture", name_of(Aperture::video)},
                                     {"mode", "virtual"}};
    if (built.context != nullptr && built.context->graphics)
        channel["context"] = context_of(gpu, *built.context, block.subcontext);
    return channel;
}

Json address_space_of(const std::string &name, const Space &space) {
    Json mappings = Json::array();
    for (const auto &[va, mapping] : space.tables().mappings())
        mappings.push_back({{"va", hex(va)},
                            {"page_size", mapping.page_size},
                            {"address", hex(mapping.at.address)},
                            {"aperture", name_of(mapping.at.aperture)}});
    return {{"name", name},
            {"page_directory", place(space.tables().root())},
            {"mappings", std::move(mappings)}};
}

Json bar_of(const BarSpaces::Bar &bar) {
    return {{"bar", bar.number},
            {"instance", place(bar.instance)},
            {"page_directory", place(bar.tables.root())}};
}

} // namespace

std::string hex(std::uint64_t value) {
    std::ostringstream out;
    out << "0x" << std::hex << value;
    return out.str();
}

Json layout_of(const Gpu &gpu) {
    const Driver &driver = gpu.driver();
    Json runlists = Json::array();
    for (const auto &[id, list] : driver.lists()) {
        Json entry{{"id", id}};
        entry.update(place(list.in_use()));
        entry["entries"] = list.words.size() * 4 / entry_size(gpu.board().generation->entry);
        runlists.push_back(std::move(entry));
    }
    Json channels = Json::array();
    for (std::size_t i = 0; i < driver.channels().size(); ++i)
        channels.push_back(channel_of(gpu, gpu.plan().channels[i], driver.channels()[i]));
    Json spaces = Json::array();
    for (const auto &[name, space] : driver.spaces())
        spaces.push_back(address_space_of(name, space));
    Json bars = Json::array();
    for (const BarSpaces::Bar &bar : driver.bars().bars())
        bars.push_back(bar_of(bar));
    return {{"runlists", std::move(runlists)},
            {"channels", std::move(channels)},
            {"address_spaces", std::move(spaces)},
            {"bars", std::move(bars)}};
}

} // namespace nvmodel
