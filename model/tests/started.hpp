// SPDX-License-Identifier: MIT OR GPL-2.0
// A GPU with a running workload, and its control requests.
#pragma once

#include "support.hpp"

#include "control/catalog.hpp"
#include "control/requests.hpp"
#include "mmu/translate.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

namespace nvmodel::test {

using Json = nlohmann::json;

inline std::uint64_t number(const Json &hexadecimal) {
    return std::stoull(hexadecimal.get<std::string>(), nullptr, 16);
}

inline Aperture aperture(const Json &name) {
    for (const Aperture each : {Aperture::video, Aperture::coherent, Aperture::noncoherent})
        if (name == name_of(each))
            return each;
    ADD_FAILURE() << name;
    return Aperture::video;
}

inline PhysicalAddress place(const Json &at) {
    return {aperture(at["aperture"]), number(at["address"])};
}

/// A started GPU and its control socket.
class Started {
  public:
    Started(const std::string &board_name, const std::string &workload_name)
        : Started(board_name, workload(workload_name)) {}
    Started(const std::string &board_name, const Workload &work)
        : bench(board_name, work), requests_(bench.gpu, Catalog(NVDEBUG_MODEL_DATA)) {
        bench.gpu.start();
    }

    Json ask(const std::string &line) { return Json::parse(requests_.answer(line)); }
    [[nodiscard]] std::uint32_t word(PhysicalAddress at, std::uint64_t offset) const {
        const auto value = bench.gpu.memory().read_value({at.aperture, at.address + offset}, 4);
        EXPECT_TRUE(value);
        return static_cast<std::uint32_t>(value.value_or(0));
    }
    [[nodiscard]] const Generation &generation() const { return *bench.gpu.board().generation; }

    [[nodiscard]] mmu::Walk walk(const Json &channel, std::uint64_t va) const {
        const auto &traits = generation().page_tables;
        const mmu::Format format{.version =
                                     mmu::Version{channel["page_tables"].get<std::uint8_t>()},
                                 .big_page = channel["big_page_kib"].get<unsigned>() * mmu::kib,
                                 .leaf_512m = traits.leaf_512m,
                                 .leaf_256g = traits.leaf_256g};
        return mmu::translate(bench.gpu.memory(), format, place(channel["page_directory"]), va);
    }

    Bench bench;

  private:
    Requests requests_;
};

} // namespace nvmodel::test
