// SPDX-License-Identifier: MIT OR GPL-2.0
// The core reads a GPU that gives any answers, during the probe or while files are read.
#include "frozen.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    FuzzedDataProvider input(data, size);
    fuzz::Moment &moment = fuzz::Moment::of(input.ConsumeIntegral<u8>());
    shim.slept = nullptr;
    const u64 before = shim.in_use;
    {
        fuzz::Frozen machine(moment, input);
        if (input.ConsumeBool())
            machine.disturb();
        const int ret = machine.probe();
        FUZZ_REQUIRE(ret <= 0);
        FUZZ_REQUIRE(ret || input.remaining_bytes() == 0 || machine.gpu()->chip ||
                     machine.gpu()->unsupported);
        machine.disturb();
        const u64 probed = shim.in_use;
        const auto all = core::files(machine);
        for (int n = 0; n < 3 && !all.empty(); n++) {
            const core::File &file = all[input.ConsumeIntegral<u8>() % all.size()];
            if (!file.view)
                continue;
            const core::Text got = core::read(machine, file);
            FUZZ_REQUIRE(got.error <= 0 && got.error > -134);
            FUZZ_REQUIRE(got.error || got.text.ends_with("\n"));
            FUZZ_REQUIRE(got.text.find('\0') == std::string::npos);
            fuzz::nothing_is_left(machine, probed);
        }
    }
    FUZZ_REQUIRE(shim.in_use == before);
    return 0;
}
