// SPDX-License-Identifier: MIT OR GPL-2.0
#include "driver/bars.hpp"

#include "base/bits.hpp"
#include "driver/driver_port.hpp"
#include "driver/instance_block.hpp"
#include "regs/pbus.hpp"

#include <algorithm>

namespace nvmodel {
namespace {

using namespace mmu;

constexpr std::uint64_t userd_va = 4 * mib;      // place in BAR1
constexpr std::uint64_t own_tables_va = 1 * mib; // place in BAR2
/// The first half of the parked window is left to the video BIOS.
constexpr std::uint64_t parked_share = 512 * kib;

} // namespace

BarSpaces::BarSpaces(const Board &board, BarSetup setup, DriverMemory &memory, Chip &chip,
                     std::span<const PhysicalAddress> userds)
    : board_(board), setup_(setup), memory_(memory),
      format_(board.generation->page_tables.format(board.generation->page_tables.version,
                                                   chip.big_page())),
      parked_(board.video_bytes - parked_share) {
    if (setup == BarSetup::physical)
        return;
    if (board.generation->bar1_use)
        fill_bar1(add(1, board.bar1.modelled), userds);
    const std::uint64_t room = board.bar2.modelled / (halved() ? 2 : 1);
    Bar &bar2 = add(2, bar2_size());
    if (setup == BarSetup::mapped)
        map_structures(bar2, room);
    else
        map_own_tables(bar2);
    bind(chip);
}

/// Returns whether the video BIOS has the upper half of BAR2: it has on GPUs with a video BIOS, up
/// to Ada.
bool BarSpaces::halved() const {
    return board_.generation->has_video_memory() &&
           board_.generation->bar_block != BarBlock::vf_paired;
}

/// Returns the size of BAR2. The CPU sees no BAR2 of integrated GPUs; their drivers give it this
/// size (nvgpu hal/mm/mm_gp10b_fusa.c).
std::uint64_t BarSpaces::bar2_size() const {
    return board_.bar2.modelled != 0 ? board_.bar2.modelled : 32 * mib;
}

/// Takes memory for tables and instance blocks of BARs.
PhysicalAddress BarSpaces::take(std::uint64_t size, std::uint64_t alignment) {
    if (setup_ != BarSetup::mapped)
        return memory_.take(Aperture::video, size, alignment);
    const std::uint64_t at = align_up(parked_, alignment);
    if (at + size > board_.video_bytes)
        throw ConfigError("the tables of BAR1 and BAR2 do not fit the PRAMIN window");
    parked_ = at + size;
    return {Aperture::video, at};
}

BarSpaces::Bar &BarSpaces::add(unsigned number, std::uint64_t bar_size) {
    const TakeMemory source = [this](std::uint64_t size, std::uint64_t alignment) {
        return take(size, alignment);
    };
    const PhysicalAddress instance = take(regs::ramin::size, regs::ramin::size);
    Bar &bar = bars_.emplace_back(Bar{number,
                                      AddressSpace(memory_.memory(), format_, source, source,
                                                   {.flags = {}, .partial_tables = true}),
                                      instance});
    memory_.write(instance,
                  encode_bar_instance(*board_.generation, {bar.tables.root(), format_}, bar_size));
    return bar;
}

/// Maps a console at the start of video memory, if there is any, and the channels' USERDs.
void BarSpaces::fill_bar1(Bar &bar, std::span<const PhysicalAddress> userds) {
    const std::uint64_t console = format_.has_page_size(2 * mib) ? 2 * mib : format_.big_page;
    if (board_.generation->has_video_memory())
        bar.tables.map(0, console, {PageAperture::video, 0, 0});
    std::uint64_t va = userd_va;
    std::uint64_t last = ~std::uint64_t{0};
    for (const PhysicalAddress &userd : userds) {
        const std::uint64_t page = userd.address / small_page * small_page;
        if (page == last || va >= board_.bar1.modelled)
            continue;
        last = page;
        bar.tables.map(va, small_page, page_address({userd.aperture, page}));
        va += small_page;
    }
}

/// Maps the BAR's own tables, as drivers do to change them later. Mapping them may need more
/// tables, which are mapped as well.
void BarSpaces::map_own_tables(Bar &bar) {
    std::uint64_t va = own_tables_va;
    bar.tables.map(va, small_page, page_address(bar.instance));
    std::size_t mapped = 0;
    for (auto tables = bar.tables.tables(); mapped < tables.size(); tables = bar.tables.tables()) {
        const TableMemory table = tables[mapped++];
        const std::uint64_t first = table.at.address / small_page * small_page;
        for (std::uint64_t at = first; at < table.at.address + table.size; at += small_page)
            bar.tables.map(va += small_page, small_page, page_address({table.at.aperture, at}));
    }
}

/// Maps the driver's memory from its start on, as far as there is room, twice: first by big pages,
/// in pairs that are swapped, then by small pages, as real drivers map it, in reverse within each
/// piece of the same size. A reader that supports one page size or one kind of table finds all of
/// the memory. A reader that takes one mapping for the whole fails.
void BarSpaces::map_structures(Bar &bar, std::uint64_t room) {
    const std::uint64_t piece = format_.big_page;
    const std::uint64_t begin = memory_.video_begin();
    const std::uint64_t size = std::min(align_up(memory_.video_end() - begin, 2 * piece), room / 2);
    const std::uint64_t small_va = align_up(size, 2 * mib); // these have tables of their own
    for (std::uint64_t at = 0; at < size; at += piece)
        bar.tables.map(at / piece % 2 == 0 ? at + piece : at - piece, piece,
                       {PageAperture::video, begin + at, 0});
    for (std::uint64_t at = 0; at < size && small_va + at + piece <= room; at += piece)
        for (std::uint64_t offset = 0; offset < piece; offset += small_page)
            bar.tables.map(small_va + at + offset, small_page,
                           {PageAperture::video, begin + at + piece - small_page - offset, 0});
}

void BarSpaces::bind(Chip &chip) {
    using namespace regs::pbus;
    const PhysicalAddress bar1 = bars_.front().instance;
    const PhysicalAddress bar2 = bars_.back().instance;
    const std::uint32_t bios_half = halved() ? block_debug_cya.mask() : 0;
    const auto word = [](PhysicalAddress instance) {
        return block_mode.mask() | block_target.put(target_of(instance.aperture)) |
               block_ptr.put(low32(instance.address >> 12));
    };
    const auto low_word = [](PhysicalAddress instance) {
        return block_low_mode.mask() | block_low_target.put(target_of(instance.aperture)) |
               (low32(instance.address) & block_low_ptr.mask());
    };
    switch (board_.generation->bar_block) {
    case BarBlock::pbus:
        if (board_.generation->bar1_use)
            driver_write(chip, bar1_block, word(bar1));
        driver_write(chip, bar2_block, word(bar2) | bios_half);
        break;
    case BarBlock::pbus_and_vf:
        driver_write(chip, vf_bar1_block, word(bar1));
        driver_write(chip, vf_bar2_block, word(bar2) | bios_half);
        break;
    case BarBlock::vf_paired:
        driver_write(chip, vf_bar1_block_low, low_word(bar1));
        driver_write(chip, vf_bar1_block_high, high32(bar1.address));
        driver_write(chip, vf_bar2_block_low, low_word(bar2));
        driver_write(chip, vf_bar2_block_high, high32(bar2.address));
        break;
    }
}

} // namespace nvmodel
