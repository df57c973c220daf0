// SPDX-License-Identifier: MIT OR GPL-2.0
// Devices of the model for fuzz targets, and the conditions that they meet at every instant.
#ifndef NVDEBUG_TESTS_FUZZ_MODEL_DEVICE_HPP
#define NVDEBUG_TESTS_FUZZ_MODEL_DEVICE_HPP

#include "base/error.hpp"
#include "board/board.hpp"
#include "device/gpu.hpp"
#include "memory/guest_memory.hpp"
#include "workload/workload.hpp"

#include "fuzz.hpp"

#include <array>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace fuzz {

inline const std::filesystem::path model_data = NVDEBUG_MODEL_DATA;

/** Boards of each generation, and integrated GPUs. */
inline constexpr std::array boards{"quadro-k5000", "gtx980",     "gtx1060-3gb",   "titan-v",
                                   "rtx2080ti",    "a100",       "rtx6000-ada",   "h200",
                                   "rtx5090",      "jetson-tx2", "jetson-xavier", "jetson-orin"};

inline nvmodel::Board board(unsigned number) {
    static std::map<unsigned, nvmodel::Board> loaded;
    number %= boards.size();
    const auto found = loaded.find(number);
    if (found != loaded.end())
        return found->second;
    const auto file = model_data / "boards" / (std::string(boards[number]) + ".json");
    return loaded.emplace(number, nvmodel::load_board(file)).first->second;
}

inline nvmodel::Workload workload(const std::string &name) {
    return nvmodel::load_workload(model_data / "workloads" / (name + ".json"));
}

/** System memory of a guest: one range, as `vm/run` gives the model. */
class Guest final : public nvmodel::GuestMemory {
  public:
    static constexpr nvmodel::SystemMemoryRange range{0x10000000, 0x1000000};

    [[nodiscard]] bool read(std::uint64_t address, std::span<std::byte> to) const override {
        if (!contains(address, to.size()))
            return false;
        std::memcpy(to.data(), bytes_.data() + (address - range.base), to.size());
        return true;
    }
    [[nodiscard]] bool write(std::uint64_t address, std::span<const std::byte> from) override {
        if (!contains(address, from.size()))
            return false;
        std::memcpy(bytes_.data() + (address - range.base), from.data(), from.size());
        return true;
    }

  private:
    [[nodiscard]] bool contains(std::uint64_t address, std::size_t length) const {
        return address >= range.base && length <= bytes_.size() &&
               address - range.base <= bytes_.size() - length;
    }

    std::vector<std::byte> bytes_{range.size};
};

/** The place where firmware puts the BARs, one after the other. */
inline constexpr std::uint32_t bars_begin = 0x80000000;
inline constexpr std::uint32_t bars_size = 0x30000000;

/** Places the BARs as firmware does, in each of the six registers that the board has. */
inline void place_bars(nvmodel::Gpu &gpu) {
    constexpr std::uint32_t command = 0x04;
    constexpr std::uint32_t first_bar = 0x10;
    constexpr std::uint32_t memory = 2;
    for (std::uint32_t i = 0; i < 6; ++i)
        gpu.config_write(first_bar + 4 * i, bars_begin + i * (bars_size / 6), 4);
    gpu.config_write(command, memory, 2);
}

/** Checks that no channel is in two places, that nothing runs without a context, and that no engine
 * works longer than the time that has passed. */
inline void check(const nvmodel::Gpu &gpu) {
    const nvmodel::Host &host = gpu.chip().host();
    std::set<std::size_t> loaded;
    for (const nvmodel::Pbdma &pbdma : host.pbdmas()) {
        std::set<std::size_t> clients;
        for (const nvmodel::PbdmaClient &client : pbdma.clients)
            FUZZ_REQUIRE(clients.insert(client.channel).second);
        if (const nvmodel::PbdmaClient *const client = pbdma.loaded())
            FUZZ_REQUIRE(loaded.insert(client->channel).second);
    }
    for (const nvmodel::Engine &engine : host.engines())
        for (const std::size_t channel : engine.channels) {
            FUZZ_REQUIRE(engine.context.holds());
            FUZZ_REQUIRE(&host.engines()[*host.channel(channel).engine] == &engine);
        }
    std::map<std::string, double> by_engine;
    for (const nvmodel::ChannelProgress &each : gpu.progress())
        by_engine[each.engine] += each.progress_us;
    for (const auto &[engine, us] : by_engine)
        FUZZ_REQUIRE(us <= nvmodel::to_us(gpu.now()) + 0.001);
}

} // namespace fuzz

#endif
