// SPDX-License-Identifier: MIT OR GPL-2.0
#include "model.hpp"

#include "base/parse.hpp"
#include "board/board.hpp"
#include "workload/workload.hpp"

#include <algorithm>
#include <bit>
#include <filesystem>
#include <sstream>

namespace core {

// The boards have the order of their slots in the VMs of tests/.
const std::vector<std::string> cards{"quadro-k5000", "gtx980",    "gtx1060-3gb", "gtx1080ti",
                                     "titan-v",      "rtx2080ti", "a100",        "rtx-a6000",
                                     "rtx6000-ada",  "h200",      "b200",        "rtx5090"};
const std::vector<std::string> integrated{"jetson-orin", "jetson-tx2", "jetson-xavier"};

std::vector<std::string> all_boards() {
    std::vector<std::string> all = cards;
    all.insert(all.end(), integrated.begin(), integrated.end());
    return all;
}

namespace {

const std::filesystem::path data = NVDEBUG_MODEL_DATA;

nvmodel::Board load(const std::string &board) {
    return nvmodel::load_board(data / "boards" / (board + ".json"));
}

nvmodel::Workload load_work(const std::string &workload) {
    return nvmodel::load_workload(data / "workloads" / (workload + ".json"));
}

/// Returns the part of 64 MiB that vm/run gives the board in the VM of the golden files.
nvmodel::SystemMemoryRange share_of(const std::string &board) {
    constexpr std::uint64_t base = 0x10000000, size = 0x4000000;
    std::vector<std::string> slots = cards;
    if (std::ranges::find(integrated, board) != integrated.end())
        slots = {"jetson-orin", "gtx1060-3gb", "jetson-tx2", "jetson-xavier"};
    const auto slot = static_cast<std::uint64_t>(std::ranges::find(slots, board) - slots.begin());
    const std::uint64_t share = size / std::bit_ceil(slots.size());
    return {base + slot * share, share};
}

Model *slept_for;

void pass_time(u64 ns) {
    slept_for->model().advance(static_cast<nvmodel::Ns>(ns));
}

nvmodel::PhysicalAddress place(std::uint8_t aperture, std::uint64_t address) {
    return {nvmodel::Aperture{aperture}, address};
}

} // namespace

const std::byte *SystemMemory::find(std::uint64_t address, std::size_t bytes) const {
    auto range = ranges_.upper_bound(address);
    if (range == ranges_.begin())
        return nullptr;
    --range;
    const std::uint64_t offset = address - range->first;
    if (offset > range->second.size() || bytes > range->second.size() - offset)
        return nullptr;
    return range->second.data() + offset;
}

bool SystemMemory::read(std::uint64_t address, std::span<std::byte> to) const {
    const std::byte *const from = find(address, to.size());
    if (from != nullptr)
        std::memcpy(to.data(), from, to.size());
    return from != nullptr;
}

bool SystemMemory::write(std::uint64_t address, std::span<const std::byte> from) {
    auto *const to = const_cast<std::byte *>(find(address, from.size()));
    if (to != nullptr)
        std::memcpy(to, from.data(), from.size());
    return to != nullptr;
}

Model::Model(const std::string &board, const std::string &workload)
    : memory_(share_of(board)), gpu_(load(board), load_work(workload), share_of(board)),
      requests_(gpu_, nvmodel::Catalog(data)) {
    gpu_.attach(&memory_);
    gpu_.start();
    slept_for = this;
    shim.slept = pass_time;
}

Model::~Model() {
    shim.slept = nullptr;
}

void Model::restart(const std::string &workload) {
    const nvmodel::Workload work = load_work(workload);
    gpu_.restart(&work);
}

void Model::fault(const std::string &words) {
    std::istringstream text(words);
    std::vector<std::string> each;
    for (std::string word; text >> word;)
        each.push_back(word);
    gpu_.faults().add(each);
}

std::uint32_t Model::register_read(std::uint32_t offset) {
    return static_cast<std::uint32_t>(gpu_.bar_read(nvmodel::Bar::registers, offset, 4));
}

void Model::register_write(std::uint32_t offset, std::uint32_t value) {
    gpu_.bar_write(nvmodel::Bar::registers, offset, value, 4);
}

std::optional<std::uint32_t> Model::memory_read(std::uint8_t aperture, std::uint64_t address) {
    const nvmodel::PhysicalAddress at = place(aperture, address);
    if (words_read) {
        words_read->words++;
        words_read->again += !words_read->seen.emplace(aperture, address).second;
    }
    if (gpu_.memory().in_video(at))
        return gpu_.direct_read(address);
    const auto value = gpu_.memory().read_value(at, 4);
    return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
}

bool Model::memory_write(std::uint8_t aperture, std::uint64_t address, std::uint32_t value) {
    const nvmodel::PhysicalAddress at = place(aperture, address);
    if (!gpu_.memory().in_video(at))
        return gpu_.memory().write_value(at, value, 4);
    gpu_.direct_write(address, value);
    return true;
}

std::optional<std::uint64_t> Model::lend(std::size_t bytes) {
    const std::uint64_t at = next_list_;
    memory_.add(at, bytes);
    next_list_ += (bytes + 0xfff) & ~std::size_t{0xfff};
    return at;
}

void Model::take_back(std::uint64_t address, std::size_t) {
    memory_.remove(address);
}

} // namespace core
