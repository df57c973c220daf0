// SPDX-License-Identifier: MIT OR GPL-2.0
#include "driver/driver.hpp"

#include "blocks/work_distributor.hpp"
#include "driver/driver_port.hpp"
#include "driver/instance_block.hpp"
#include "driver/tpc_numbers.hpp"
#include "mmu/format.hpp"
#include "regs/ctxsw.hpp"
#include "regs/cwd.hpp"
#include "regs/pbus.hpp"
#include "regs/pfb.hpp"
#include "regs/timer.hpp"

#include <algorithm>
#include <array>
#include <variant>

namespace nvmodel {
namespace {

using mmu::mib;
/// The part of video memory with the driver's structures. The last MiB stays free: drivers park the
/// PRAMIN window there, because the video BIOS uses it as well.
constexpr std::uint64_t low_begin = 1 * mib;
constexpr std::uint64_t area = 63 * mib;
constexpr std::uint64_t high_reserve = 1 * mib;

using mmu::small_page;
/// Copies of a runlist that a driver keeps, to build the next one while one is in use.
constexpr unsigned list_buffers = 4;
/// Copies of a list that changes its version. There are so many that a slow reader finds the list
/// elsewhere.
constexpr unsigned rotating_buffers = 64;
/// TIMEOUTs that can mark a version; 0 is the same timeslice as 1.
constexpr unsigned marks = 255;

/// A channel's pushbuffer ring, which is never read: 1024 entries.
constexpr std::uint64_t ring_size = 0x2000;

/// A driver sets PTIMER to 2025-01-01, so that runs repeat exactly.
constexpr std::uint64_t epoch_ns = 1'735'689'600'000'000'000;

Allocator video_area(Placement placement, const Board &board) {
    if (!board.generation->has_video_memory())
        return {Aperture::video, 0, 0};
    if (placement == Placement::low) // the part that both BARs show
        return {Aperture::video, low_begin, std::min(board.bar1.modelled, board.bar2.modelled)};
    const std::uint64_t end = board.video_bytes - high_reserve;
    return {Aperture::video, end - area, end};
}

} // namespace

Driver::Driver(const Board &board, const Plan &plan, Chip &chip, Memory &memory,
               const std::optional<SystemMemoryRange> &system_memory)
    : board_(board), plan_(plan), chip_(chip),
      memory_(memory, board.generation->memory, video_area(plan.placement, board), system_memory),
      port_(DriverPort::make(board, chip)) {
    if (board_.generation->pramin)
        park_window();
    driver_write(chip_, regs::timer::time_1, high32(epoch_ns));
    driver_write(chip_, regs::timer::time_0, low32(epoch_ns));
    number_tpcs_in_hardware();
    port_->open_doorbells();
    // The lists take space first, so that each lies in one piece, independent of the rest of a
    // workload.
    for (const auto &[runlist, entries] : plan_.lists)
        reserve_list(lists_[runlist], entries, list_buffers);
    set_big_page();
    take_channel_memory();
    for (const auto &[name, spec] : plan_.address_spaces)
        spaces_.try_emplace(name, memory_, format_of(spec), spec);
    ContextBuilder contexts(board_, memory_);
    for (std::size_t i = 0; i < plan_.channels.size(); ++i)
        build_channel(i, contexts);
    build_bars();
    for (const auto &[runlist, entries] : plan_.lists)
        lists_[runlist].words = words_of(entries, 0);
    for (auto &[runlist, list] : lists_)
        submit(runlist, list);
    chip_.host().wait_for_lists();
    for (std::size_t i = 0; i < plan_.channels.size(); ++i)
        start_channel(i);
}

Driver::~Driver() = default;

void Driver::park_window() {
    using namespace regs::pbus;
    const std::uint64_t base = board_.video_bytes - high_reserve;
    driver_write(chip_, board_.generation->window_register,
                 window_base.put(low32(base >> window_shift)));
}

void Driver::number_tpcs_in_hardware() {
    using namespace regs::cwd;
    const WorkDistributor form = board_.generation->work_distributor;
    if (form == WorkDistributor::none)
        return;
    const WorkDistributorWords words = encode_work_distributor(board_);
    driver_write(chip_, fs, words.fs);
    const WorkDistributorTables tables = work_distributor_tables(board_);
    for (unsigned i = 0; i < tables.gpc_tpc_id_words; ++i)
        driver_write(chip_, tables.gpc_tpc_id + 4 * i, words.gpc_tpc_id[i]);
    for (unsigned i = 0; i < tables.sm_id_words; ++i)
        driver_write(chip_, tables.sm_id + 4 * i, words.sm_id[i]);
}

/// Sets the size of big pages. Where one setting serves all address spaces, a space that wants 128
/// KiB decides.
void Driver::set_big_page() {
    using namespace regs::pfb;
    const PageTableTraits &traits = board_.generation->page_tables;
    if (!traits.version_1_too)
        return;
    const bool large = std::ranges::any_of(plan_.address_spaces, [](const auto &space) {
        return space.second.big_page == 128 * mmu::kib;
    });
    driver_write(chip_, mmu_ctrl,
                 traits.big_page_by_instance
                     ? mmu_ctrl_big_page_64k.mask() | mmu_ctrl_use_pdb_big_page_size.mask()
                     : mmu_ctrl_big_page_64k.put(large ? 0 : 1));
}

/// Takes memory for instance blocks next to each other, and then for USERDs: a reader of all
/// channels finds them in few places.
void Driver::take_channel_memory() {
    channels_.resize(plan_.channels.size());
    for (std::size_t i = 0; i < channels_.size(); ++i)
        channels_[i].instance =
            memory_.take(plan_.channels[i].instance_aperture, small_page, small_page);
    for (std::size_t i = 0; i < channels_.size(); ++i)
        channels_[i].block.userd =
            memory_.take(plan_.channels[i].instance_aperture, regs::userd::size, regs::userd::size);
}

mmu::Format Driver::format_of(const AddressSpaceSpec &spec) const {
    const PageTableTraits &traits = board_.generation->page_tables;
    return traits.format(spec.page_tables.value_or(traits.version),
                         traits.big_page_by_instance ? spec.big_page : chip_.big_page());
}

void Driver::build_bars() {
    std::vector<PhysicalAddress> userds;
    for (const BuiltChannel &channel : channels_)
        userds.push_back(channel.block.userd);
    bars_.emplace(board_, plan_.bars, memory_, chip_, userds);
}

std::vector<Structure> Driver::structures() const {
    constexpr std::uint64_t instance_bytes = 4ULL * regs::ramin::words_described;
    const std::uint64_t header_bytes = board_.generation->context.header_bytes;
    std::vector<Structure> all;
    for (const auto &[id, list] : lists_)
        if (!list.words.empty())
            all.push_back({structure_runlist, list.in_use(), 4 * list.words.size()});
    for (const BuiltChannel &channel : channels_)
        all.push_back({structure_instance, channel.instance, instance_bytes});
    const auto add_tables = [&all](const mmu::AddressSpace &space) {
        for (const mmu::TableMemory &table : space.tables())
            all.push_back({structure_page_table, table.at, table.size});
    };
    for (const auto &[name, space] : spaces_)
        add_tables(space.tables());
    for (const BarSpaces::Bar &bar : bars_->bars()) {
        all.push_back({structure_instance, bar.instance, instance_bytes});
        add_tables(bar.tables);
    }
    for (const EngineContext &context : contexts_) {
        if (!context.graphics)
            continue;
        all.push_back({structure_context, context.address, 2 * header_bytes});
        for (const PhysicalAddress &header : context.headers)
            all.push_back({structure_context, header, header_bytes});
    }
    return all;
}

/// Returns the context that a channel shares with its TSG, or its own; nullptr if it needs none.
const EngineContext *Driver::context_of(std::size_t index, std::span<Space *const> spaces,
                                        ContextBuilder &builder) {
    const PlannedChannel &channel = plan_.channels[index];
    const bool graphics = board_.on_graphics_runlist(*board_.find_engine(channel.engine));
    if (!graphics && is_copy_engine(channel.engine.type))
        return nullptr;
    if (channel.tsg)
        if (const auto found = context_of_tsg_.find(*channel.tsg); found != context_of_tsg_.end())
            return found->second;
    contexts_.push_back(graphics ? builder.graphics(channel.context, spaces)
                                 : builder.buffer(spaces));
    if (channel.tsg)
        context_of_tsg_.emplace(*channel.tsg, &contexts_.back());
    return &contexts_.back();
}

void Driver::build_channel(std::size_t index, ContextBuilder &builder) {
    const PlannedChannel &channel = plan_.channels[index];
    BuiltChannel &built = channels_[index];
    InstanceBlock &block = built.block;
    std::vector<Space *> spaces;
    for (const std::string &name : channel.address_spaces)
        spaces.push_back(&spaces_.at(name));

    built.context = context_of(index, spaces, builder);
    if (built.context != nullptr)
        block.engine_context = built.context->pointer(channel.subcontext);
    block.channel = channel.id;
    block.engine_id = *board_.find_engine(channel.engine)->engine_id;
    block.copy_engine = is_copy_engine(channel.engine.type);
    block.subcontext = channel.subcontext;
    block.timeslice = channel.timeslice;
    block.privileged = channel.privileged;
    for (const Space *space : spaces)
        block.spaces.push_back({space->tables().root(), space->tables().format(),
                                space->spec().pasid, space->spec().ats});
    const std::array own{spaces[channel.subcontext]};
    block.pushbuffer_ring = Space::reserve(own, ring_size);
    own.front()->map_data(block.pushbuffer_ring, ring_size);
    block.gp_put = channel.work.kind == Work::Kind::idle ? 0 : 1;
    memory_.write(built.instance, encode_instance(*board_.generation, block));

    std::array<std::uint32_t, regs::userd::size / 4> userd{};
    userd[regs::userd::gp_put] = block.gp_put;
    memory_.write(block.userd, userd);

    port_->bind(channel.runlist, channel.id, built.instance);
    if (channel.enabled)
        port_->set_enabled(channel.runlist, channel.id, true);
}

unsigned Driver::entries_of(const PlannedEntry &entry) const {
    const auto *const tsg = std::get_if<PlannedTsgEntry>(&entry);
    return tsg == nullptr ? 1 : 1 + static_cast<unsigned>(plan_.tsgs[tsg->tsg].channels.size());
}

/// Reserves buffers for a list. Where a runlist may be aligned to less than a page, it is put off
/// page boundaries, so that a reader that drops address bits fails.
void Driver::reserve_list(List &list, const std::vector<PlannedEntry> &entries, unsigned buffers) {
    std::uint64_t count = 0;
    for (const PlannedEntry &entry : entries)
        count += entries_of(entry);
    const std::uint64_t alignment = 1ULL << board_.generation->runlist_base_shift;
    const std::uint64_t shift = alignment < small_page ? alignment : 0;
    const std::uint64_t size = count * entry_size(board_.generation->entry) + shift;
    while (list.buffers.size() < buffers) {
        const PhysicalAddress at = memory_.take(plan_.runlist_aperture, size, small_page);
        list.buffers.push_back({at.aperture, at.address + shift});
    }
}

std::vector<std::uint32_t> Driver::words_of(const std::vector<PlannedEntry> &entries,
                                            unsigned version) const {
    std::vector<std::uint32_t> words;
    for (std::size_t i = 0; i < entries.size(); ++i)
        append(words, entries[(i + version) % entries.size()], version);
    return words;
}

void Driver::append(std::vector<std::uint32_t> &words, const PlannedEntry &entry,
                    unsigned version) const {
    if (const auto *const raw = std::get_if<PlannedRawEntry>(&entry)) {
        words.insert(words.end(), raw->words.begin(), raw->words.end());
        return;
    }
    if (const auto *const channel = std::get_if<PlannedChannelEntry>(&entry)) {
        append_channel(words, channel->channel);
        return;
    }
    const PlannedTsg &tsg = plan_.tsgs[std::get<PlannedTsgEntry>(entry).tsg];
    const auto left = static_cast<unsigned>(std::ranges::count_if(
        tsg.channels, [this](std::size_t channel) { return unlisted_.contains(channel); }));
    if (left == tsg.channels.size())
        return;
    Timeslice timeslice = tsg.timeslice;
    if (version != 0)
        timeslice.timeout = version;
    const auto header =
        encode_header(board_.generation->entry, tsg.id, timeslice, tsg.header_length - left);
    words.insert(words.end(), header.begin(), header.end());
    for (const std::size_t channel : tsg.channels)
        if (!unlisted_.contains(channel))
            append_channel(words, channel);
}

void Driver::append_channel(std::vector<std::uint32_t> &words, std::size_t channel) const {
    const PlannedChannel &planned = plan_.channels[channel];
    const BuiltChannel &built = channels_[channel];
    const auto entry =
        encode_channel(board_.generation->entry, {planned.id, planned.runqueue, built.instance,
                                                  built.block.userd, planned.subcontext});
    words.insert(words.end(), entry.begin(), entry.end());
}

void Driver::submit(unsigned runlist, List &list) {
    const PhysicalAddress to = list.in_use();
    memory_.write(to, list.words);
    const auto entries = list.words.size() * 4 / entry_size(board_.generation->entry);
    port_->submit(runlist, to, static_cast<unsigned>(entries));
}

/// Gives the channel its work, and announces the work.
void Driver::start_channel(std::size_t i) {
    const PlannedChannel &channel = plan_.channels[i];
    Host &host = chip_.host();
    const std::size_t index = *host.channel_index(channel.runlist, channel.id);
    QueuedWork work;
    work.what = channel.work;
    work.engine = *host.engine_index(channel.engine);
    host.queue_work(index, work);
    host.set_userd(index, channels_[i].block.userd);
    if (channel.fault == ChannelFault::pbdma)
        host.set_faulted(index, true, std::nullopt);
    else if (channel.fault == ChannelFault::engine)
        host.set_faulted(index, std::nullopt, true);
    if (host.channel(index).has_work())
        port_->ring(channel.runlist, channel.id);
}

Driver::List &Driver::find_list(unsigned runlist) {
    if (board_.find_runlist(runlist) == nullptr)
        throw ConfigError("board " + board_.name + " has no runlist " + std::to_string(runlist));
    const auto found = lists_.find(runlist);
    if (found == lists_.end())
        throw ConfigError("the workload has nothing on runlist " + std::to_string(runlist));
    return found->second;
}

void Driver::submit_in_next_buffer(unsigned runlist, List &list) {
    list.used = (list.used + 1) % list.buffers.size();
    submit(runlist, list);
}

void Driver::resubmit(unsigned runlist) {
    submit_in_next_buffer(runlist, find_list(runlist));
}

unsigned Driver::rotate(unsigned runlist) {
    List &list = find_list(runlist);
    const std::vector<PlannedEntry> &entries = plan_.lists.at(runlist);
    if (entries.size() > marks)
        throw ConfigError("a list of more than " + std::to_string(marks) +
                          " entries cannot say its version");
    reserve_list(list, entries, rotating_buffers);
    // The number of versions is a multiple of the entries, so that the mark shows where the list
    // begins.
    const auto versions = static_cast<unsigned>(marks / entries.size() * entries.size());
    const PhysicalAddress left = list.in_use();
    list.version = list.version % versions + 1;
    list.words = words_of(entries, list.version);
    submit_in_next_buffer(runlist, list);
    memory_.write(left, words_of(entries, list.version % versions + 1));
    return list.version;
}

void Driver::set_enabled(std::span<const std::size_t> channels, bool enabled) {
    for (const std::size_t channel : channels)
        port_->set_enabled(plan_.channels[channel].runlist, plan_.channels[channel].id, enabled);
    Host &host = chip_.host();
    if (enabled) { // a list that is idle by now needs a doorbell
        for (const std::size_t channel : channels) {
            const PlannedChannel &planned = plan_.channels[channel];
            if (host.channel(*host.channel_index(planned.runlist, planned.id)).has_work())
                port_->ring(planned.runlist, planned.id);
        }
        return;
    }
    for (const PlannedTsg &tsg : plan_.tsgs)
        if (std::ranges::any_of(tsg.channels, [channels](std::size_t channel) {
                return std::ranges::find(channels, channel) != channels.end();
            }))
            host.preempt(*host.find_runlist(tsg.runlist), {true, tsg.id});
}

PhysicalAddress Driver::preemption_word(std::size_t tsg) const {
    const PhysicalAddress image = context_of_tsg_.at(tsg)->address;
    return {image.aperture, image.address + regs::ctxsw::compute_preemption_options};
}

ComputePreemption Driver::compute_preemption(std::size_t tsg) const {
    const auto word = memory_.memory().read_value(preemption_word(tsg), 4).value_or(0);
    return ComputePreemption{static_cast<std::uint8_t>(
        regs::ctxsw::preemption_control.get(static_cast<std::uint32_t>(word)))};
}

void Driver::set_compute_preemption(std::size_t tsg, ComputePreemption mode) {
    memory_.write(preemption_word(tsg), std::array{regs::ctxsw::preemption_control.put(
                                            static_cast<std::uint32_t>(mode))});
}

void Driver::set_listed(std::span<const std::size_t> channels, bool listed) {
    std::set<unsigned> runlists;
    for (const std::size_t channel : channels) {
        if (listed)
            unlisted_.erase(channel);
        else
            unlisted_.insert(channel);
        runlists.insert(plan_.channels[channel].runlist);
    }
    for (const unsigned runlist : runlists) {
        List &list = find_list(runlist);
        list.words = words_of(plan_.lists.at(runlist), list.version);
        submit_in_next_buffer(runlist, list);
    }
}

void Driver::move_window() {
    using namespace regs::pbus;
    window_moves_ = (window_moves_ + 1) % 16;
    driver_write(chip_, board_.generation->window_register, window_base.put(0x10 * window_moves_));
}

} // namespace nvmodel
