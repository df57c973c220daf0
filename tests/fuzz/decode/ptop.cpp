// SPDX-License-Identifier: MIT OR GPL-2.0
// PTOP in both layouts. Engines fit into the room that there is, and only engines of the table are
// found.
#include "decode/ptop.h"

#include "words.hpp"

#include <linux/errno.h>

namespace {

using Decode = int (*)(const u32 *, size_t, nvdebug_engine *, size_t, u32 *);

constexpr u32 all_has = 0x7f;

void engine(const nvdebug_engine &engine, bool v1) {
    FUZZ_REQUIRE(!(engine.has & ~all_has));
    FUZZ_REQUIRE(engine.has & NVDEBUG_ENGINE_HAS_PRI_BASE || !engine.pri_base);
    FUZZ_REQUIRE(!(engine.has & NVDEBUG_ENGINE_HAS_RUNLIST_BASE) || engine.runlist_base);
    FUZZ_REQUIRE(!(v1 && engine.has & NVDEBUG_ENGINE_HAS_RUNLIST_BASE));
    const char *const name = nvdebug_engine_type_name(engine.type);
    FUZZ_REQUIRE(!name || *name);
}

/** Returns the result of decoding. The engines that fitted are in @p engines. */
int decode(Decode run, const std::vector<u32> &rows, std::vector<nvdebug_engine> &engines) {
    u32 ignored = ~0U;
    const int got = run(rows.data(), rows.size(), engines.data(), engines.size(), &ignored);
    if (got < 0) {
        FUZZ_REQUIRE(got == -ENOSPC);
        return got;
    }
    FUZZ_REQUIRE(static_cast<size_t>(got) <= engines.size());
    FUZZ_REQUIRE(static_cast<size_t>(got) + ignored <= 2 * rows.size());
    engines.resize(static_cast<size_t>(got));
    return got;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    FuzzedDataProvider input(data, size);
    const bool v1 = input.ConsumeBool();
    const size_t room = input.ConsumeIntegralInRange<size_t>(0, 64);
    const Decode run = v1 ? nvdebug_ptop_v1_decode : nvdebug_ptop_v2_decode;
    const std::vector<u32> rows = fuzz::all_words(input);

    nvdebug_ptop_cfg cfg;
    if (!rows.empty() && !nvdebug_ptop_v2_cfg_decode(rows[0], 3, &cfg))
        FUZZ_REQUIRE((cfg.version == 2 || cfg.version == 3) &&
                     cfg.num_rows <= NVDEBUG_PTOP_MAX_ROWS);

    // A row makes one engine at most, so this room is always enough.
    std::vector<nvdebug_engine> all(rows.size());
    const int count = decode(run, rows, all);
    FUZZ_REQUIRE(count >= 0);
    for (const nvdebug_engine &each : all)
        engine(each, v1);

    std::vector<nvdebug_engine> some(room);
    const int fitted = decode(run, rows, some);
    FUZZ_REQUIRE(fitted == (static_cast<size_t>(count) <= room ? count : -ENOSPC));
    for (size_t i = 0; i < some.size() && i < all.size(); i++)
        FUZZ_REQUIRE(fuzz::same_bytes(some[i], all[i]));
    return 0;
}
