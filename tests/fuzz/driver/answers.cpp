// SPDX-License-Identifier: MIT OR GPL-2.0
// The answers of NVIDIA's driver and the contents of registers and memory are the fuzzer's: an H100
// in any state, and a driver that refuses, errs and talks nonsense. No descriptor stays open, and
// the library asks only for reads.
#include "fuzz.hpp"
#include "lib/nvdebug/driver_tree.hpp"
#include "nvdebug/gpu.hpp"
#include "stand_in.hpp"

#include <cerrno>

using namespace driver_test;

namespace {

class Input {
  public:
    Input(const uint8_t *data, size_t size) : at_(data), end_(data + size) {}
    uint8_t byte() { return at_ == end_ ? 0 : *at_++; }
    uint32_t word() {
        uint32_t word = 0;
        for (int i = 0; i < 4; i++)
            word = word << 8 | byte();
        return word;
    }

  private:
    const uint8_t *at_, *end_;
};

/// Returns the usual words of registers that alone decide whether anything else is read.
uint32_t usual(uint32_t offset) {
    switch (offset) {
    case 0:
        return 0x180000a1; // BOOT_0
    case 0xa00:
        return 0x180a1000; // BOOT_42
    case 0x224fc:
        return 0x08630312; // the device table: 134 rows of 3 for a device
    default:
        return 0;
    }
}

void read_all(const std::shared_ptr<StandIn> &kernel, const std::string &request) {
    const auto opened = nvdebug::driver::open_tree(kernel, {});
    if (!opened) {
        FUZZ_REQUIRE(!opened.error().sentence.empty());
        return;
    }
    const nvdebug::Tree tree(*opened);
    const auto gpus = nvdebug::gpus(tree);
    FUZZ_REQUIRE(gpus);
    for (const nvdebug::Gpu &gpu : *gpus) {
        const auto files = tree.list(gpu.folder());
        FUZZ_REQUIRE(files);
        for (const std::string &file : *files)
            if (const auto text = tree.read(gpu.folder() + "/" + file); !text)
                FUZZ_REQUIRE(!text.error().sentence.empty());
        if (const auto walk = gpu.translate(request); !walk)
            FUZZ_REQUIRE(!walk.error().sentence.empty());
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Input input(data, size);
    const auto kernel = std::make_shared<StandIn>();
    kernel->layout = static_cast<StandIn::Layout>(input.byte() % 3);
    kernel->root = input.byte() != 1;
    kernel->memory_bytes = 64ULL << 30;
    kernel->registers = [&](uint32_t offset) -> std::optional<uint32_t> {
        const uint8_t how = input.byte();
        if (how == 255)
            return std::nullopt;
        return how > 128 ? input.word() : usual(offset);
    };
    kernel->memory = [&](uint64_t) { return input.byte() % 8 ? 0 : input.word(); };
    bool nonsense = false;
    kernel->garble = [&](unsigned number, void *answer, std::size_t bytes) {
        const uint8_t how = input.byte();
        kernel->fail = how == 1 ? kernel->ioctls + 1 : 0;
        kernel->fail_with = 1 + input.byte() % 40;
        kernel->deny = how == 2 ? kernel->ioctls + 1 : 0;
        kernel->deny_with = input.byte();
        if (how != 3)
            return;
        nonsense = true;
        auto *const at = static_cast<uint8_t *>(answer);
        // The pointers in a control are the caller's own.
        for (std::size_t i = number == rm::esc_control ? 28 : 0; i < bytes; i++)
            at[i] = input.byte();
    };
    read_all(kernel, "0:" + std::to_string(input.byte()) + " 0x1000");
    FUZZ_REQUIRE(kernel->open_files() == 0);
    FUZZ_REQUIRE(kernel->mapped() == 0);
    FUZZ_REQUIRE(nonsense || kernel->wrongs.empty());
    return 0;
}
