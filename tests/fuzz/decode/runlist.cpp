// SPDX-License-Identifier: MIT OR GPL-2.0
// Runlists: their places survive a submit, entries and TSGs stay within the list, and timeslices
// are the longest that fit.
#include "decode/runlist.h"
#include "decode/submit.h"
#include "decode/timeslice.h"

#include "words.hpp"

#include <algorithm>

#include <linux/errno.h>

namespace {

using Decode = int (*)(const u32 *, size_t, nvdebug_entry *);

struct Form {
    Decode decode;
    bool (*is_pri_error)(const u32 *, size_t);
    u32 (*set_timeslice)(u32, u8, u8);
    size_t words;
};

constexpr Form forms[] = {
    {nvdebug_entry8_decode, nvdebug_entry8_is_pri_error, nvdebug_entry8_set_timeslice, 2},
    {nvdebug_entry16_decode, nvdebug_entry16_is_pri_error, nvdebug_entry16_set_timeslice, 4},
    {nvdebug_entry16_decode_gb10b, nvdebug_entry16_is_pri_error, nvdebug_entry16_set_timeslice, 4},
};

/** Checks that the registers have the list that was submitted. */
void submit(FuzzedDataProvider &input) {
    constexpr u64 ptr = 0x000000fffffff000;
    nvdebug_runlist_location asked{};
    asked.addr = input.ConsumeIntegral<u64>();
    if (input.ConsumeBool())
        asked.addr &= ptr;
    asked.entries = input.ConsumeIntegral<u32>() >> input.ConsumeIntegralInRange(0, 31);
    asked.aperture = input.ConsumeIntegralInRange<u8>(0, 3);

    std::vector<u32> word(NVDEBUG_SUBMIT_WORDS);
    const int count = nvdebug_submit_words_tu102(&asked, 0, ptr, word.data());
    FUZZ_REQUIRE(count == NVDEBUG_SUBMIT_WORDS || count == -ERANGE);
    if (count > 0) {
        nvdebug_runlist_location got{};
        nvdebug_runlist_location_tu102(word[0], word[1], word[2], input.ConsumeIntegral<u32>(),
                                       static_cast<u32>(ptr), static_cast<u32>(ptr >> 32), &got);
        FUZZ_REQUIRE(nvdebug_runlist_location_same(&asked, &got));
    } else {
        FUZZ_REQUIRE(asked.addr & ~ptr || asked.entries > 0xffff);
    }
    const int old =
        nvdebug_submit_words_gk104(&asked, input.ConsumeIntegralInRange(0, 15), ptr, word.data());
    FUZZ_REQUIRE(old == (count > 0 ? 2 : -ERANGE));

    nvdebug_runlist_location read{};
    nvdebug_runlist_location_gk104(input.ConsumeIntegral<u32>(), input.ConsumeIntegral<u32>(),
                                   &read);
    FUZZ_REQUIRE(!(read.addr & 0xfff));
    FUZZ_REQUIRE(nvdebug_aperture_name(read.aperture));
}

/** Checks that the timeslice is the longest possible, and that nothing else of the header changes.
 */
void timeslice(const Form &form, std::vector<u32> header, u64 ns) {
    u8 timeout = 0;
    u8 scale = 0;
    if (nvdebug_timeslice_encode(ns, &timeout, &scale))
        return;
    const u64 got = nvdebug_timeslice_ns(timeout, scale);
    FUZZ_REQUIRE(got <= ns && ns - got < ns / 128 + 1024);

    nvdebug_entry before{};
    nvdebug_entry after{};
    if (form.decode(header.data(), header.size(), &before) || before.kind != NVDEBUG_ENTRY_TSG)
        return;
    header[0] = form.set_timeslice(header[0], timeout, scale);
    FUZZ_REQUIRE(!form.decode(header.data(), header.size(), &after));
    before.timeout = timeout;
    before.scale = scale;
    FUZZ_REQUIRE(fuzz::same_bytes(before, after));
}

void list(const Form &form, const std::vector<u32> &words) {
    std::vector<nvdebug_entry> entries;
    for (size_t at = 0; at < words.size(); at += form.words) {
        const std::vector<u32> entry(
            words.begin() + static_cast<ptrdiff_t>(at),
            words.begin() + static_cast<ptrdiff_t>(std::min(words.size(), at + form.words)));
        nvdebug_entry decoded;
        const int ret = form.decode(entry.data(), entry.size(), &decoded);
        FUZZ_REQUIRE(ret == (entry.size() < form.words ? -EINVAL : 0));
        FUZZ_REQUIRE(decoded.kind <= NVDEBUG_ENTRY_CHANNEL);
        FUZZ_REQUIRE(entry.size() == form.words || !form.is_pri_error(entry.data(), entry.size()));
        form.is_pri_error(entry.data(), entry.size());
        if (!ret)
            entries.push_back(decoded);
    }
    for (size_t at = 0; at <= entries.size(); at++) {
        const size_t members = nvdebug_tsg_members(entries.data(), entries.size(), at);
        FUZZ_REQUIRE(at == entries.size() ? members == 0 : members <= entries.size() - at - 1);
        for (size_t i = 1; i <= members; i++)
            FUZZ_REQUIRE(entries[at + i].kind == NVDEBUG_ENTRY_CHANNEL);
        FUZZ_REQUIRE(!members || members <= entries[at].length);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    FuzzedDataProvider input(data, size);
    const Form &form = input.PickValueInArray(forms);
    submit(input);
    const u64 ns = input.ConsumeIntegral<u64>() >> input.ConsumeIntegralInRange(0, 63);
    const std::vector<u32> words = fuzz::all_words(input);
    timeslice(form, {words.begin(), words.begin() + std::min<ptrdiff_t>(words.size(), 4)}, ns);
    list(form, words);
    return 0;
}
