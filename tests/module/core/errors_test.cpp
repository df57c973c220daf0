// SPDX-License-Identifier: MIT OR GPL-2.0
// A register answers a single read with an error word. The error word is never taken for a value:
// the file cannot be opened, or it shows no value there.
#include "bench.hpp"
#include "meddled.hpp"

extern "C" {
#include "hw/mmu.h"
}

#include <algorithm>
#include <set>
#include <vector>

namespace core {
namespace {

class Errors : public testing::TestWithParam<std::string> {
  protected:
    Errors() : machine(GetParam(), "mixed") { EXPECT_EQ(machine.probe(), 0); }

    /// Opens the file at the same time of the GPU. The read with the number `wrong`, if it is
    /// given, answers with an error word.
    Text open(const File &file, std::optional<u64> wrong) {
        machine.restart("mixed");
        machine.model().advance(5000 * nvmodel::ns_per_us);
        reads = 0;
        machine.on_read = [this, wrong](u32 offset) {
            // Each context may have a size of its own in place of the register's.
            if (offset == NV_PFB_PRI_MMU_CTRL)
                return std::optional<u32>();
            return reads++ == wrong ? std::optional<u32>(0xbadf1104) : std::nullopt;
        };
        const Text got = read(machine, file);
        machine.on_read = nullptr;
        return got;
    }

    Meddled machine;
    u64 reads = 0;
};

TEST_P(Errors, AreNeverTakenForValues) {
    for (const File &file : files(machine)) {
        // `engines` reads engines again until two looks agree, so an error may not show.
        if (file.view == nullptr || !file.view->live || file.name == "engines")
            continue;
        const Text usual = open(file, std::nullopt);
        if (usual.error)
            continue; // the board lacks this pair of engines
        const u64 count = reads;
        for (u64 n = 0; n < count; n++) {
            const Text got = open(file, n);
            EXPECT_TRUE(got.error == -EIO || (!got.error && got.text != usual.text))
                << file.name << ", read " << n << ": " << got.error;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Boards, Errors, testing::Values("gtx980", "titan-v", "rtx5090"),
                         name_of_board);

} // namespace
} // namespace core
