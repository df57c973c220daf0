// SPDX-License-Identifier: MIT OR GPL-2.0
#include "bridged_gpu.hpp"

#include "base/error.hpp"
#include "device/access.hpp"
#include "regs/pbus.hpp"
#include "regs/pmc.hpp"
#include "regs/pri.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

namespace nvdebug::bridge {
namespace {

using namespace nvmodel;

constexpr std::uint64_t bar0_bytes = 16 << 20;
constexpr std::uint32_t boot_0 = 0;

/// Returns the generation by the upper bits of the chip's number, PMC_BOOT_0 28:20 (nouveau
/// engine/device/base.c).
const nvmodel::Generation &generation_of(driver::Words &words) {
    static constexpr std::array<std::pair<std::uint32_t, const char *>, 10> known{
        {{0x11, "maxwell-gm20x"},
         {0x12, "maxwell-gm20x"},
         {0x13, "pascal"},
         {0x14, "volta"},
         {0x16, "turing"},
         {0x17, "ampere-ga10x"},
         {0x18, "hopper"},
         {0x19, "ada"},
         {0x1a, "blackwell-gb10x"},
         {0x1b, "blackwell-gb20x"}}};
    std::uint32_t value = 0;
    if (const auto read = words.registers({&boot_0, 1}, {&value, 1}); !read)
        throw ConfigError(read.error().sentence);
    for (const auto &[chips, name] : known)
        if ((value >> 24 & 0x1f) == chips)
            return *find_generation(name);
    throw ConfigError("PMC_BOOT_0 is " + hex(value) +
                      ", which is no GPU that NVIDIA's driver and the "
                      "model both know");
}

PciConfig config_of(const Source &source, const nvmodel::Generation &generation) {
    Board board;
    board.generation = &generation;
    board.pci = source.pci;
    board.bar0 = {bar0_bytes, bar0_bytes};
    return PciConfig(board);
}

void count(std::map<std::uint64_t, std::uint64_t> &all, std::uint64_t at) {
    constexpr std::size_t most = 4096;
    if (all.size() < most || all.contains(at))
        ++all[at];
}

} // namespace

std::string hex(std::uint64_t value) {
    std::array<char, 20> text{};
    std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
    return text.data();
}

BridgedGpu::BridgedGpu(Source source)
    : BridgedGpu(std::move(source), generation_of(*source.words)) {}

BridgedGpu::BridgedGpu(Source source, const nvmodel::Generation &generation)
    : PciFunction(config_of(source, generation)), source_(std::move(source)),
      generation_(generation), window_(make_window(generation, bus_)) {}

void BridgedGpu::reset() {
    config_.reset();
    bus_.window = 0;
}

Result<void> BridgedGpu::show(const std::string &file) {
    if (!source_.capture)
        return tl::unexpected(
            Error{ErrorCode::unsupported, 0, "", source_.name + " is no capture"});
    return source_.capture->show(file);
}

std::uint32_t BridgedGpu::failed(const Error &why) {
    if (!trouble_)
        trouble_ = why;
    return regs::pri::off_the_bus;
}

std::uint32_t BridgedGpu::register_word(std::uint32_t offset) {
    std::uint32_t value = 0;
    if (const auto read = source_.words->registers({&offset, 1}, {&value, 1}); !read)
        return failed(read.error());
    // A GPU that has gone answers with the same value, also for BOOT_0. That answer must be shown.
    if (value != regs::pri::off_the_bus || offset == boot_0) {
        ++counts_.registers;
        return value;
    }
    count(refusals_.registers, offset);
    count(all_.registers, offset);
    return regs::pri::no_such_address;
}

std::uint32_t BridgedGpu::memory_word(std::uint32_t offset) {
    const auto at = bus_.behind_window(offset);
    std::uint32_t value = 0;
    if (at && at->aperture == Aperture::video) {
        const auto read = source_.words->memory(at->address, {&value, 1});
        if (read) {
            ++counts_.memory_words;
            return value;
        }
        if (read.error().number != EFAULT)
            return failed(read.error());
    }
    const std::uint64_t address = at ? at->address : offset;
    count(refusals_.memory, address);
    count(all_.memory, address);
    return regs::pri::memory_problem;
}

std::uint32_t BridgedGpu::word(std::uint32_t offset) {
    using namespace regs::pramin;
    if (offset == generation_.window_register)
        return window_->read(offset).value;
    if (offset >= range_begin && offset < range_end)
        return memory_word(offset - range_begin);
    return register_word(offset);
}

/// Reads whole words, and returns the bytes of them that the guest asked for.
std::uint64_t BridgedGpu::bar_read(Bar, std::uint64_t offset, unsigned size) {
    const auto aligned = static_cast<std::uint32_t>(offset & ~std::uint64_t{3});
    const unsigned skipped = 8 * static_cast<unsigned>(offset - aligned);
    std::uint64_t value = word(aligned);
    if (skipped + 8 * size > 32 && aligned + 4 < bar0_bytes)
        value |= std::uint64_t{word(aligned + 4)} << 32;
    return value >> skipped & ones(size);
}

void BridgedGpu::bar_write(Bar, std::uint64_t offset, std::uint64_t value, unsigned size) {
    if (offset == generation_.window_register && size == 4) {
        window_->write(static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(value));
        return;
    }
    count(refusals_.writes, offset);
    count(all_.writes, offset);
}

namespace {

/// Returns for example `2 (0x0, 0x4)`.
std::string listed(const std::map<std::uint64_t, std::uint64_t> &all) {
    constexpr std::size_t most = 8;
    std::string text;
    std::size_t n = 0;
    for (const auto &[at, times] : all)
        if (n++ < most)
            text += (text.empty() ? "" : ", ") + hex(at);
    if (n > most)
        text += ", ...";
    return std::to_string(all.size()) + (text.empty() ? "" : " (" + text + ")");
}

} // namespace

std::string BridgedGpu::report() const {
    std::uint64_t writes = 0;
    for (const auto &[at, times] : all_.writes)
        writes += times;
    return source_.name + ": " + std::to_string(counts_.registers) + " registers and " +
           std::to_string(counts_.memory_words) + " words of memory read, " +
           std::to_string(writes) +
           " writes refused; not there: registers: " + listed(all_.registers) +
           ", words of memory: " + listed(all_.memory) +
           (trouble_ ? "; not answered: " + trouble_->sentence : "");
}

} // namespace nvdebug::bridge
