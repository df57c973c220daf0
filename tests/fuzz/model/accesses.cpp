// SPDX-License-Identifier: MIT OR GPL-2.0
// A guest accesses the device in any order: PCI configuration, BARs, memory and resets. In between
// come the actions of tests: time, corruption and restarts.
#include "device.hpp"

using namespace nvmodel;

namespace {

/** Returns an offset of BAR0, more often than not of a register that does something. */
std::uint32_t offset(FuzzedDataProvider &input, const Board &board) {
    const auto near = [&](std::uint32_t begin, std::uint32_t length) {
        return begin + input.ConsumeIntegralInRange<std::uint32_t>(0, length / 4 - 1) * 4;
    };
    const RunlistRow &row =
        board.runlists[input.ConsumeIntegralInRange<std::size_t>(0, board.runlists.size() - 1)];
    switch (input.ConsumeIntegralInRange(0, 11)) {
    case 0:
        return near(0x2000, 0x2000);
    case 1:
        return near(0x800000, 0x280);
    case 2:
        return near(0x104000, 0x200);
    case 3:
        return board.generation->window_register;
    case 4:
        return near(0x700000, 0x100000);
    case 5:
        return input.ConsumeBool() ? 0x810090 : 0xbb0090;
    case 6:
        return near(row.base, 0x400);
    case 7:
        return near(row.chram, 0x200);
    case 8:
        return near(0x100000, 0x1000);
    case 9:
        return near(0x40000, 0x20000);
    case 10:
        return near(0x9000, 0x1000);
    default:
        return input.ConsumeIntegral<std::uint32_t>();
    }
}

unsigned size(FuzzedDataProvider &input) {
    return input.ConsumeIntegral<std::uint8_t>() % 8 ? 4 : 1U << input.ConsumeIntegralInRange(0, 3);
}

void guest(FuzzedDataProvider &input, Gpu &gpu) {
    const Bar bar = static_cast<Bar>(input.ConsumeIntegralInRange(0, 2));
    const std::uint64_t at =
        bar == Bar::registers ? offset(input, gpu.board()) : input.ConsumeIntegral<std::uint32_t>();
    const auto value =
        input.ConsumeIntegral<std::uint64_t>() >> input.ConsumeIntegralInRange(0, 63);
    switch (input.ConsumeIntegralInRange(0, 7)) {
    case 0:
    case 1:
    case 2:
        gpu.bar_write(bar, at, value, size(input));
        break;
    case 3:
    case 4:
        gpu.bar_read(bar, at, size(input));
        break;
    case 5: {
        const unsigned bytes = 1U << input.ConsumeIntegralInRange(0, 2);
        const auto place = input.ConsumeIntegralInRange<std::uint32_t>(0, 0x110);
        const std::uint32_t device = gpu.config_read(0, 4);
        gpu.config_write(place, static_cast<std::uint32_t>(value), bytes);
        static_cast<void>(gpu.config_read(place, bytes));
        FUZZ_REQUIRE(gpu.config_read(0, 4) == device);
        break;
    }
    case 6: {
        const std::uint64_t address = fuzz::bars_begin + value % fuzz::bars_size;
        gpu.memory_write(address, at, size(input));
        gpu.memory_read(address, size(input));
        break;
    }
    default:
        gpu.reset();
    }
}

/** Throws ConfigError for an action that makes no sense at this time. */
void test(FuzzedDataProvider &input, Gpu &gpu) {
    switch (input.ConsumeIntegralInRange(0, 5)) {
    case 0:
        gpu.advance(input.ConsumeIntegralInRange<Ns>(0, 5'000'000));
        break;
    case 1:
        gpu.resubmit(input.ConsumeIntegralInRange(0, 40));
        break;
    case 2:
        gpu.corrupt(input.ConsumeIntegral<std::uint64_t>(), input.ConsumeIntegralInRange(0, 64));
        break;
    case 3:
        gpu.undo_corruption();
        break;
    case 4:
        gpu.start();
        break;
    default:
        gpu.restart(nullptr);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
    static const std::array workloads{fuzz::workload("mixed"), fuzz::workload("bars"),
                                      fuzz::workload("idle")};
    constexpr unsigned most = 300;
    FuzzedDataProvider input(data, bytes);
    fuzz::Guest memory;
    Board board = fuzz::board(input.ConsumeIntegral<std::uint8_t>());
    const Workload &wanted = input.PickValueInArray(workloads);
    // "bars" needs video memory.
    const Workload &workload = board.generation->has_video_memory() ? wanted : workloads.front();
    Gpu gpu(std::move(board), workload, fuzz::Guest::range);
    gpu.attach(&memory);
    fuzz::place_bars(gpu);
    gpu.start();
    for (unsigned i = 0; i < most && input.remaining_bytes(); i++) {
        if (input.ConsumeIntegral<std::uint8_t>() % 16) {
            guest(input, gpu);
        } else {
            try {
                test(input, gpu);
            } catch (const ConfigError &) {
            }
        }
        fuzz::check(gpu);
    }
    return 0;
}
