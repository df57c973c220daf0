// SPDX-License-Identifier: MIT OR GPL-2.0
#include "support.hpp"

#include "regs/fifo.hpp"
#include "regs/pbus.hpp"
#include "regs/runlist_gb202.hpp"
#include "regs/usermode.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>

namespace nvmodel::test {

namespace {
const std::filesystem::path data = NVDEBUG_MODEL_DATA;
}

std::string test_name(const testing::TestParamInfo<const char *> &board) {
    std::string name = board.param;
    std::erase(name, '-');
    return name;
}

Board board(const std::string &name) {
    return load_board(data / "boards" / (name + ".json"));
}

Workload workload(const std::string &name) {
    return load_workload(data / "workloads" / (name + ".json"));
}

Workload workload_of(const std::string &entries, const std::string &more) {
    return parse_workload(JsonValue::parse(
        R"({"SPDX-License-Identifier":"x","format":1,"name":"test","title":"test",)" + more +
            R"("entries":[)" + entries + "]}",
        "test.json"));
}

std::string config_error(const std::function<void()> &call) {
    try {
        call();
    } catch (const ConfigError &error) {
        return error.what();
    }
    ADD_FAILURE() << "no ConfigError was thrown";
    return {};
}

bool FakeMemory::contains(std::uint64_t address, std::size_t length) const {
    return address >= base_ && length <= bytes_.size() && address - base_ <= bytes_.size() - length;
}

bool FakeMemory::read(std::uint64_t address, std::span<std::byte> to) const {
    if (!contains(address, to.size()))
        return false;
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(address - base_), to.size(),
                to.begin());
    return true;
}

bool FakeMemory::write(std::uint64_t address, std::span<const std::byte> from) {
    if (!contains(address, from.size()))
        return false;
    std::ranges::copy(from, bytes_.begin() + static_cast<std::ptrdiff_t>(address - base_));
    return true;
}

Bench::Bench(const std::string &board_name, const Workload &work)
    : guest(sysmem_range.base, sysmem_range.size), gpu(board(board_name), work, sysmem_range) {
    gpu.attach(&guest);
}

std::unique_ptr<Bench> Bench::started(const std::string &board_name, const Workload &work) {
    auto bench = std::make_unique<Bench>(board_name, work);
    bench->gpu.start();
    return bench;
}

std::optional<std::uint32_t> Bench::through_window(PhysicalAddress at) {
    using namespace regs;
    const Generation &generation = *gpu.board().generation;
    if (!generation.pramin)
        return std::nullopt;
    if (at.aperture != Aperture::video && !(generation.window_mask & pbus::window_target.mask()))
        return std::nullopt;
    write(generation.window_register,
          pbus::window_base.put(low32(at.address >> pbus::window_shift)) |
              pbus::window_target.put(target_of(at.aperture)));
    return pramin::range_begin + low32(at.address) % (1U << pbus::window_shift);
}

std::uint32_t Bench::peek(PhysicalAddress at) {
    if (const auto offset = through_window(at))
        return read(*offset);
    std::uint32_t value = 0;
    EXPECT_TRUE(guest.read(at.address, std::as_writable_bytes(std::span(&value, 1))));
    return value;
}

void Bench::poke(PhysicalAddress at, std::uint32_t value) {
    if (const auto offset = through_window(at))
        write(*offset, value);
    else
        EXPECT_TRUE(guest.write(at.address, std::as_bytes(std::span(&value, 1))));
}

Aperture Bench::default_aperture() const {
    return gpu.board().generation->memory == MemoryForm::unified ? Aperture::coherent
                                                                 : Aperture::video;
}

Aperture Bench::system_aperture() const {
    return gpu.board().generation->memory == MemoryForm::unified_as_video ? Aperture::video
                                                                          : Aperture::coherent;
}

std::uint32_t Bench::runlist_register(std::uint32_t at, unsigned runlist) const {
    const bool moved = gpu.board().generation->runlist_layout == RunlistLayout::gb202;
    return gpu.board().find_runlist(runlist)->base +
           (moved ? regs::runlist::to_gb202(at).value() : at);
}

void Bench::submit(unsigned runlist, PhysicalAddress base, unsigned entries, unsigned first) {
    const std::uint32_t target = target_of(base.aperture);
    const std::uint32_t length = entries | first << 16;
    switch (gpu.board().generation->submit) {
    case SubmitScheme::shared_port:
        write(0x2270, low32(base.address >> 12) | target << 28);
        write(0x2274, entries | runlist << 20);
        break;
    case SubmitScheme::pfifo_array:
        write(0x2b00 + 16 * runlist, low32(base.address) | target);
        write(0x2b04 + 16 * runlist, high32(base.address));
        write(0x2b08 + 16 * runlist, length);
        break;
    case SubmitScheme::block:
        write(runlist_register(0x80, runlist), low32(base.address) | target);
        write(runlist_register(0x84, runlist), high32(base.address));
        write(runlist_register(0x88, runlist), length);
        break;
    }
}

std::uint32_t Bench::channel_register(unsigned channel, unsigned runlist) const {
    if (gpu.board().ids_per_runlist())
        return gpu.board().find_runlist(runlist)->chram + 4 * channel;
    return 0x800004 + 8 * channel;
}

void Bench::enable(unsigned channel, unsigned runlist) {
    write(channel_register(channel, runlist), gpu.board().ids_per_runlist() ? 0x2 : 0x400);
}

void Bench::disable(unsigned channel, unsigned runlist) {
    write(channel_register(channel, runlist), gpu.board().ids_per_runlist() ? 0x3 : 0x800);
}

void Bench::ring(unsigned channel, unsigned runlist) {
    switch (gpu.board().generation->doorbell) {
    case Doorbell::none:
        break;
    case Doorbell::volta:
        write(0x810090, channel);
        break;
    case Doorbell::turing:
        write(0x810090, channel | runlist << 16);
        break;
    case Doorbell::ampere:
    case Doorbell::hopper:
        write(0xbb0090, channel | runlist << 16);
        break;
    case Doorbell::gb20x:
        write(0xbb0090, channel | runlist << 16 | 1U << 30);
        break;
    }
}

void Bench::preempt_tsg(unsigned tsg, unsigned runlist) {
    const std::uint32_t at =
        gpu.board().ids_per_runlist() ? runlist_register(0x98, runlist) : 0x2634;
    write(at, 0x01000000 | tsg);
}

bool Bench::preempt_pending(unsigned runlist) {
    const std::uint32_t at =
        gpu.board().ids_per_runlist() ? runlist_register(0x98, runlist) : 0x2634;
    return (read(at) >> 20 & 1) != 0;
}

void Bench::set_gate(unsigned runlist, bool closed) {
    if (gpu.board().ids_per_runlist())
        write(runlist_register(0x94, runlist), closed ? 1 : 0);
    else
        write(0x2630, closed ? 1U << runlist : 0);
}

void Bench::advance_us(double us) {
    gpu.advance(std::llround(us * 1000));
}

std::map<std::string, double> Bench::progress() const {
    std::map<std::string, double> by_task;
    for (const ChannelProgress &each : gpu.progress())
        by_task[each.task] += each.progress_us;
    return by_task;
}

std::map<std::string, double> Bench::gained(double us) {
    const auto before = progress();
    advance_us(us);
    auto after = progress();
    for (auto &[task, done] : after)
        done -= before.at(task);
    return after;
}

ChannelProgress Bench::channel(unsigned id, unsigned runlist) const {
    for (const ChannelProgress &each : gpu.progress())
        if (each.channel == id && (!gpu.board().ids_per_runlist() || each.runlist == runlist))
            return each;
    ADD_FAILURE() << "no channel " << id;
    return {};
}

void Bench::expect_no_violations() {
    for (const Violations::Record &record : gpu.violations().records())
        ADD_FAILURE() << name_of(record.why) << (record.access.write ? " write" : " read")
                      << " at 0x" << std::hex << record.access.offset;
}

} // namespace nvmodel::test
