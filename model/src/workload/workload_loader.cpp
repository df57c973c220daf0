// SPDX-License-Identifier: MIT OR GPL-2.0
#include "workload/workload.hpp"

#include "workload/address_space_loader.hpp"

#include "regs/ramin.hpp"
#include "regs/ramrl.hpp"

#include <algorithm>

namespace nvmodel {
namespace {

constexpr std::size_t max_entries = 8192;
constexpr std::size_t max_channels = 512;
constexpr unsigned max_repeat = 4096;
constexpr unsigned max_id = 4095;
constexpr double max_us = 1e9;
constexpr double max_timeslice_us = 8555560; // this is (255 << 15) units

Ns ns_of(const JsonValue &value, double min_us, double max) {
    return static_cast<Ns>(value.real(min_us, max) * static_cast<double>(ns_per_us));
}

unsigned read_repeat(JsonObject &object) {
    const auto value = object.find("repeat");
    return value ? value->number32(1, max_repeat) : 1;
}

std::optional<unsigned> read_id(JsonObject &object) {
    const auto value = object.find("id");
    return value ? std::optional(value->number32(0, max_id)) : std::nullopt;
}

EngineChoice read_engine(const JsonValue &value) {
    if (value.text() == "first-async-lce")
        return {std::nullopt, value};
    const auto name = parse_engine_name(value.text());
    if (!name)
        value.fail("not an engine's name; for example GR0, GRCE1, LCE2, first-async-lce");
    return {name, value};
}

template <typename Choice>
std::optional<Choice> read_choice(JsonObject &object, std::string_view key,
                                  std::initializer_list<std::pair<std::string_view, Choice>> all) {
    const auto value = object.find(key);
    if (!value)
        return std::nullopt;
    std::string expected;
    for (const auto &[name, choice] : all) {
        if (value->text() == name)
            return choice;
        expected += (expected.empty() ? "" : ", ") + std::string(name);
    }
    value->fail("expected one of " + expected);
}

ContextSpec read_context(JsonObject &object) {
    ContextSpec context;
    context.graphics = read_choice<GraphicsPreemption>(
        object, "graphics_preemption",
        {{"WFI", GraphicsPreemption::wfi}, {"GFXP", GraphicsPreemption::gfxp}});
    context.compute = read_choice<ComputePreemption>(object, "compute_preemption",
                                                     {{"WFI", ComputePreemption::wfi},
                                                      {"CTA", ComputePreemption::cta},
                                                      {"CILP", ComputePreemption::cilp}});
    if (const auto id = object.find("context_id"))
        context.id = id->number32(0, 0xffffffff);
    return context;
}

Work read_amount(JsonObject &object) {
    Work work{.kind = Work::Kind::amount};
    work.amount = ns_of(object.at("us"), 0.001, max_us);
    if (const auto period = object.find("period_us"))
        work.period = ns_of(*period, 1, max_us);
    if (const auto offset = object.find("offset_us"))
        work.offset = ns_of(*offset, 0, max_us);
    return work;
}

Work read_acquire(JsonObject &object) {
    Work work{.kind = Work::Kind::acquire, .offset = never};
    const JsonValue until = object.at("acquire_until_us");
    if (!until.is_null())
        work.offset = ns_of(until, 0, max_us);
    if (const auto may_switch = object.find("switch_tsg"))
        work.switch_tsg = may_switch->boolean();
    return work;
}

Work read_work(const JsonValue &value) {
    if (value.is_string()) {
        if (value.text() == "busy")
            return {.kind = Work::Kind::busy};
        if (value.text() == "idle")
            return {};
        value.fail("expected \"busy\", \"idle\" or an object");
    }
    JsonObject object(value);
    const Work work = object.has("acquire_until_us") ? read_acquire(object) : read_amount(object);
    object.finish();
    return work;
}

ChannelFault read_fault(const JsonValue &value) {
    if (value.text() == "pbdma")
        return ChannelFault::pbdma;
    if (value.text() == "engine")
        return ChannelFault::engine;
    value.fail("expected \"pbdma\" or \"engine\"");
}

/// Reads the members that a channel inside a TSG and a bare channel have in common.
ChannelSpec read_channel_members(JsonObject &object) {
    ChannelSpec channel{.where = object.value()};
    channel.id = read_id(object);
    if (const auto work = object.find("work"))
        channel.work = read_work(*work);
    if (const auto enabled = object.find("enabled"))
        channel.enabled = enabled->boolean();
    if (const auto fault = object.find("fault"))
        channel.fault = read_fault(*fault);
    return channel;
}

ChannelSpec read_channel(const JsonValue &value) {
    JsonObject object(value);
    ChannelSpec channel = read_channel_members(object);
    channel.repeat = read_repeat(object);
    if (channel.id && channel.repeat > 1)
        value.fail("\"id\" and \"repeat\" exclude each other");
    if (const auto engine = object.find("engine"))
        channel.engine = read_engine(*engine);
    if (const auto runqueue = object.find("runqueue"))
        channel.runqueue = runqueue->number32(0, 1);
    if (const auto subcontext = object.find("subcontext"))
        channel.subcontext = subcontext->number32(0, regs::ramin::subcontexts - 1);
    object.finish();
    return channel;
}

std::optional<Timeslice> read_timeslice(JsonObject &object) {
    const auto us = object.find("timeslice_us");
    const auto raw = object.find("timeslice");
    if (us && raw)
        object.value().fail("\"timeslice_us\" and \"timeslice\" exclude each other");
    if (us)
        return encode_timeslice(ns_of(*us, 1, max_timeslice_us));
    if (!raw)
        return std::nullopt;
    JsonObject fields(*raw);
    const Timeslice timeslice{.timeout = fields.at("timeout").number32(0, 255),
                              .scale = fields.at("scale").number32(0, 15)};
    fields.finish();
    return timeslice;
}

void read_spaces_of_group(JsonObject &object, GroupSpec &group) {
    const auto one = object.find("address_space");
    const auto several = object.find("address_spaces");
    if (one && several)
        object.value().fail("\"address_space\" and \"address_spaces\" exclude each other");
    if (one)
        group.address_spaces.push_back(one->text());
    else if (several)
        for (const JsonValue &item : several->items(regs::ramin::subcontexts))
            group.address_spaces.push_back(item.text());
    if (group.address_spaces.empty())
        group.address_spaces.push_back(group.task);
}

GroupSpec read_group(JsonObject &object, bool bare) {
    GroupSpec group{.where = object.value(),
                    .bare = bare,
                    .repeat = read_repeat(object),
                    .task = object.at("task").text(),
                    .engine = read_engine(object.at("engine"))};
    group.timeslice = read_timeslice(object);
    read_spaces_of_group(object, group);
    if (const auto aperture = object.find("instance_aperture"))
        group.instance_aperture = read_aperture(*aperture);
    group.context = read_context(object);
    if (const auto privileged = object.find("privileged"))
        group.privileged = privileged->boolean();
    if (bare) {
        group.channels.push_back(read_channel_members(object));
    } else {
        group.id = read_id(object);
        if (const auto length = object.find("length"))
            group.length = length->number32(0, 255);
        for (const JsonValue &item : object.at("channels").items(max_channels))
            group.channels.push_back(read_channel(item));
    }
    const bool any_id =
        group.id || std::ranges::any_of(group.channels, [](const ChannelSpec &channel) {
            return channel.id.has_value();
        });
    if (any_id && group.repeat > 1)
        group.where.fail("\"id\" and \"repeat\" exclude each other");
    return group;
}

template <std::size_t N>
std::array<std::uint32_t, N> read_words(const JsonValue &value) {
    std::array<std::uint32_t, N> words{};
    const auto items = value.items(N);
    if (items.size() != N)
        value.fail("expected " + std::to_string(N) + " words");
    std::ranges::transform(items, words.begin(),
                           [](const JsonValue &item) { return item.number32(0, 0xffffffff); });
    return words;
}

EntrySpec read_entry(const JsonValue &value) {
    JsonObject object(value);
    const auto kind_value = object.find("kind");
    const std::string kind = kind_value ? kind_value->text() : "tsg";
    EntrySpec entry = [&]() -> EntrySpec {
        if (kind == "tsg")
            return read_group(object, false);
        if (kind == "channel")
            return read_group(object, true);
        if (kind == "again")
            return AgainSpec{value, object.at("task").text()};
        if (kind == "raw")
            return RawSpec{value, read_engine(object.at("engine")),
                           read_words<2>(object.at("words2")), read_words<4>(object.at("words4"))};
        kind_value->fail("expected tsg, channel, again or raw");
    }();
    object.finish();
    return entry;
}

} // namespace

Timeslice encode_timeslice(Ns duration) {
    const Ns units = std::max<Ns>(duration / regs::ramrl::timeslice_unit_ns, 1);
    unsigned scale = 0;
    while ((units >> scale) > 255 && scale < 15)
        ++scale;
    return {.timeout = static_cast<unsigned>(std::min<Ns>(units >> scale, 255)), .scale = scale};
}

Workload parse_workload(JsonValue root) {
    JsonObject file(std::move(root));
    static_cast<void>(file.at("SPDX-License-Identifier").text());
    static_cast<void>(file.at("format").number(1, 1));
    Workload workload;
    workload.name = file.at("name").text();
    workload.title = file.at("title").text();
    if (const auto placement = file.find("placement")) {
        if (placement->text() == "low")
            workload.placement = Placement::low;
        else if (placement->text() != "high")
            placement->fail("expected \"low\" or \"high\"");
    }
    workload.bars = read_choice<BarSetup>(file, "bars",
                                          {{"physical", BarSetup::physical},
                                           {"virtual", BarSetup::translated},
                                           {"mapped", BarSetup::mapped}})
                        .value_or(workload.bars);
    if (const auto spaces = file.find("address_spaces"))
        workload.address_spaces = read_address_spaces(*spaces);
    if (const auto aperture = file.find("runlist_aperture"))
        workload.runlist_aperture = read_aperture(*aperture);
    if (const auto aperture = file.find("instance_aperture"))
        workload.instance_aperture = read_aperture(*aperture);
    for (const JsonValue &item : file.at("entries").items(max_entries))
        workload.entries.push_back(read_entry(item));
    file.finish();
    return workload;
}

Workload load_workload(const std::filesystem::path &file) {
    return parse_workload(JsonValue::load(file));
}

} // namespace nvmodel
