// SPDX-License-Identifier: MIT OR GPL-2.0
// Texts that users write into files. They are parsed within their bounds, and a printed request is
// parsed to the same request.
#include "decode/targets.h"
#include "decode/timeslice.h"
#include "decode/translation.h"

#include "words.hpp"

#include <linux/errno.h>

#include <algorithm>
#include <memory>
#include <string>

#include "hw/ram.h"

namespace {

/** Text in memory of its exact length, without a terminator. */
class Text {
  public:
    explicit Text(const std::string &from)
        : bytes_(std::make_unique<char[]>(from.size())), size_(from.size()) {
        std::copy(from.begin(), from.end(), bytes_.get());
    }
    const char *data() const { return bytes_.get(); }
    size_t size() const { return size_; }

  private:
    std::unique_ptr<char[]> bytes_;
    size_t size_;
};

void targets(const Text &text, size_t room) {
    std::vector<nvdebug_target> found(room);
    const int count = nvdebug_targets_parse(text.data(), text.size(), found.data(), room);
    if (count <= 0) {
        FUZZ_REQUIRE(count == -EINVAL || count == -ERANGE || count == -E2BIG);
        return;
    }
    FUZZ_REQUIRE(static_cast<size_t>(count) <= room);
    std::string printed;
    for (int i = 0; i < count; i++) {
        if (found[i].has_runlist)
            printed += std::to_string(found[i].runlist) + ":";
        printed += std::to_string(found[i].id) + "\n";
    }
    std::vector<nvdebug_target> again(static_cast<size_t>(count));
    const int same =
        nvdebug_targets_parse(printed.data(), printed.size(), again.data(), again.size());
    FUZZ_REQUIRE(same == count || (same == -E2BIG && printed.size() > NVDEBUG_TARGETS_TEXT_MAX));
    for (int i = 0; i < same; i++)
        FUZZ_REQUIRE(again[i].id == found[i].id && again[i].runlist == found[i].runlist &&
                     again[i].has_runlist == found[i].has_runlist);
}

std::string print(const nvdebug_translation &t) {
    std::string text;
    if (t.by_channel) {
        text = std::to_string(t.runlist) + ":" + std::to_string(t.channel);
    } else {
        text = std::to_string(t.pdb) + (t.aperture == NV_APERTURE_VID   ? ":vid"
                                        : t.aperture == NV_APERTURE_COH ? ":coh"
                                                                        : ":ncoh");
    }
    text += " " + std::to_string(t.va);
    if (t.base)
        text += " base";
    if (t.version)
        text += " v" + std::to_string(t.version);
    if (t.big_page_kib)
        text += " " + std::to_string(t.big_page_kib) + "k";
    return text;
}

void translation(const Text &text) {
    nvdebug_translation found;
    const int ret = nvdebug_translation_parse(text.data(), text.size(), &found);
    FUZZ_REQUIRE(!ret || ret == -EINVAL || ret == -ERANGE);
    if (ret)
        return;
    FUZZ_REQUIRE(!(found.by_channel && (found.version || found.big_page_kib)));
    FUZZ_REQUIRE(found.by_channel || !(found.pdb & 0xfff));
    const std::string printed = print(found);
    nvdebug_translation again;
    FUZZ_REQUIRE(!nvdebug_translation_parse(printed.data(), printed.size(), &again));
    FUZZ_REQUIRE(fuzz::same_bytes(found, again));
}

void timeslice(const Text &text) {
    nvdebug_cursor cur{text.data(), text.data() + text.size()};
    u64 ns = 0;
    const int ret = nvdebug_cursor_microseconds(&cur, &ns);
    FUZZ_REQUIRE(cur.at >= text.data() && cur.at <= cur.end);
    FUZZ_REQUIRE(!ret || ret == -EINVAL || ret == -ERANGE);
    if (ret)
        return;
    FUZZ_REQUIRE(nvdebug_cursor_at_end_of_word(&cur));
    std::string decimals = std::to_string(ns % 1000);
    decimals.insert(0, 3 - decimals.size(), '0');
    const std::string printed = std::to_string(ns / 1000) + "." + decimals;
    nvdebug_cursor other{printed.data(), printed.data() + printed.size()};
    u64 again = 0;
    FUZZ_REQUIRE(!nvdebug_cursor_microseconds(&other, &again) && again == ns);
}

/** Takes words until none is left. The cursor always moves on, and never leaves the text. */
void words(const Text &text) {
    static const char *const known[] = {"on", "off", "lease", "wfi", "cta", "cilp"};
    nvdebug_cursor cur{text.data(), text.data() + text.size()};
    while (nvdebug_cursor_more(&cur)) {
        const char *const before = cur.at;
        const int choice = nvdebug_cursor_choice(&cur, known, std::size(known));
        FUZZ_REQUIRE(cur.at > before && cur.at <= cur.end);
        FUZZ_REQUIRE(choice == -EINVAL || std::string(before, cur.at) == known[choice]);
    }
    FUZZ_REQUIRE(cur.at == cur.end);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    FuzzedDataProvider input(data, size);
    const size_t room = input.ConsumeIntegralInRange<size_t>(0, NVDEBUG_TARGETS_MAX);
    const Text text(input.ConsumeRemainingBytesAsString());
    targets(text, room);
    translation(text);
    timeslice(text);
    words(text);
    return 0;
}
