// SPDX-License-Identifier: MIT OR GPL-2.0
// Instance blocks, subcontext tables and contexts.
#include "decode/instance.h"
#include "decode/context.h"

#include "words.hpp"

#include <linux/bits.h>
#include <linux/errno.h>

#include "hw/ctxsw.h"

namespace {

void instance(const nvdebug_instance_layout &layout, const std::vector<u32> &words,
              std::vector<nvdebug_subcontext> &table) {
    nvdebug_instance out;
    const int ret = nvdebug_instance_decode(&layout, words.data(), words.size(), &out);
    const size_t wanted = nvdebug_ranges_words(&layout.ranges);
    FUZZ_REQUIRE(wanted <= NVDEBUG_INSTANCE_WORDS);
    FUZZ_REQUIRE(words.size() < wanted ? ret == -EINVAL : !ret || ret == -EIO);
    if (ret)
        return;
    FUZZ_REQUIRE(out.version >= 1 && out.version <= 3);
    FUZZ_REQUIRE(out.big_page_kib == 0 || out.big_page_kib == 64 || out.big_page_kib == 128);
    const nvdebug_page_dir *const dir =
        nvdebug_instance_compute_dir(&out, table.data(), table.size());
    FUZZ_REQUIRE(dir == &out.dir || (dir >= &table.front().dir && dir <= &table.back().dir));
    FUZZ_REQUIRE(nvdebug_page_dir_same(dir, dir));
}

/** Checks that the ranges are the subcontexts of VALID, each once and in rising order. */
void subcontexts(u64 valid) {
    const u32 table = nvdebug_subcontext_range(1, 0).first;
    const u32 stride = nvdebug_subcontext_range(2, 0).first - table;
    u64 seen = 0;
    u32 first = 0;
    for (;;) {
        const nvdebug_word_range range = nvdebug_subcontext_range(valid, first);
        if (!range.count)
            break;
        FUZZ_REQUIRE(range.first >= table + first * stride);
        const u32 begin = (range.first - table) / stride;
        const u32 count = (range.count + stride - 1) / stride;
        FUZZ_REQUIRE(begin + count <= 64);
        for (u32 i = begin; i < begin + count; i++)
            seen |= 1ULL << i;
        first = begin + count;
    }
    FUZZ_REQUIRE(seen == valid);
}

void context(const nvdebug_context_layout &layout, const std::vector<u32> &words) {
    nvdebug_context out;
    const size_t wanted = nvdebug_ranges_words(&layout.ranges);
    FUZZ_REQUIRE(wanted <= NVDEBUG_CONTEXT_WORDS);
    const int ret = nvdebug_context_decode(&layout, words.data(), words.size(), &out);
    FUZZ_REQUIRE(words.size() < wanted ? ret == -EINVAL : !ret || ret == -EIO || ret == -EBADMSG);
    nvdebug_context_type_name(out.type);
    nvdebug_graphics_preemption_name(out.graphics_preemption);
    nvdebug_compute_preemption_name(out.compute_preemption);
    if (words.size() >= NVDEBUG_CONTEXT_POINTER_WORDS) {
        u64 image = 0;
        nvdebug_context_pointer_decode(
            &layout, words.data() + words.size() - NVDEBUG_CONTEXT_POINTER_WORDS, &image);
        FUZZ_REQUIRE(&layout == &nvdebug_context_gh100 || image >> 49 == 0);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const nvdebug_instance_layout *const instances[] = {
        &nvdebug_instance_gk104, &nvdebug_instance_gm200, &nvdebug_instance_gp100,
        &nvdebug_instance_gv100, &nvdebug_instance_ga100, &nvdebug_instance_gh100,
    };
    static const nvdebug_context_layout *const contexts[] = {
        &nvdebug_context_gk104, &nvdebug_context_gp100, &nvdebug_context_gv100,
        &nvdebug_context_gh100};

    FuzzedDataProvider input(data, size);
    const nvdebug_instance_layout &layout = *input.PickValueInArray(instances);
    const nvdebug_context_layout &image = *input.PickValueInArray(contexts);
    subcontexts(input.ConsumeIntegral<u64>());
    std::vector<nvdebug_subcontext> table;
    for (size_t left = input.ConsumeIntegralInRange<size_t>(0, 8); left; left--) {
        const std::vector<u32> entry =
            fuzz::words(input, input.ConsumeIntegralInRange<size_t>(0, 4));
        nvdebug_subcontext out;
        const int ret = nvdebug_subcontext_decode(input.ConsumeIntegralInRange(0, 63), entry.data(),
                                                  entry.size(), &out);
        FUZZ_REQUIRE(ret == -EINVAL || ret == -EIO || ret == 0 || ret == 1);
        if (ret == 1) {
            FUZZ_REQUIRE(out.dir.addr);
            table.push_back(out);
        }
    }
    const size_t magic = input.ConsumeIntegralInRange<size_t>(0, 2 * NVDEBUG_CONTEXT_WORDS);
    std::vector<u32> words = fuzz::all_words(input);
    instance(layout, words, table);
    // Without this word, the decoder reads nothing else of a context.
    if (magic < words.size())
        words[magic] = NV_CTXSW_MAIN_IMAGE_MAGIC_VALUE_V_VALUE;
    context(image, words);
    return 0;
}
