// SPDX-License-Identifier: MIT OR GPL-2.0
// Any requests are written to a GPU that gives any answers. They end, and closing the file frees
// all that they remembered.
#include "frozen.hpp"

#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    FuzzedDataProvider input(data, size);
    fuzz::Moment &moment = fuzz::Moment::of(input.ConsumeIntegral<u8>());
    shim.slept = nullptr;
    fuzz::Frozen machine(moment, input);
    FUZZ_REQUIRE(machine.probe() == 0);
    const u64 probed = shim.in_use;
    std::vector<core::File> controls = core::files(machine);
    std::erase_if(controls, [](const core::File &file) { return !file.control; });
    const core::File &file = controls[input.ConsumeIntegral<u8>() % controls.size()];
    const bool disturbed = input.ConsumeBool();
    {
        core::Open open(machine, file);
        const std::string text = input.ConsumeRandomLengthString(300);
        if (disturbed)
            machine.disturb();
        for (int n = 0; n < 2; n++) {
            const core::Text got = open.write(text);
            FUZZ_REQUIRE(got.error <= 0 && got.error > -134);
            FUZZ_REQUIRE(got.text.empty() || got.text.ends_with("\n"));
            FUZZ_REQUIRE(!machine.gpu()->lock.held);
        }
    }
    machine.be_good();
    machine.retire();
    fuzz::nothing_is_left(machine, probed);
    return 0;
}
