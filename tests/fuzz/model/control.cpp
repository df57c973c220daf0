// SPDX-License-Identifier: MIT OR GPL-2.0
// The control socket's requests, line by line, on a started device. Each is answered with one line
// of JSON, and the device goes on.
#include "device.hpp"

#include "base/parse.hpp"
#include "control/requests.hpp"

#include <nlohmann/json.hpp>

using namespace nvmodel;

namespace {

/** Returns true for requests that may take long, because their work grows with a number without a
 * limit. */
bool takes_long(std::string_view line) {
    constexpr double most_us = 100'000;
    const auto words = split_words(line);
    return words.size() > 1 && words[0] == "advance" && parse_decimal(words[1]) > most_us;
}

/** Checks that the text is an answer in JSON, in one line, and that a failure has an error. */
void is_answer(const std::string &text) {
    const auto answer = nlohmann::json::parse(text, nullptr, false);
    FUZZ_REQUIRE(answer.is_object() && answer.contains("ok") && answer["ok"].is_boolean());
    FUZZ_REQUIRE(answer["ok"] || !answer["error"].get<std::string>().empty());
    FUZZ_REQUIRE(text.find('\n') == text.npos);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const Workload mixed = fuzz::workload("mixed");
    constexpr unsigned most = 40;
    if (!size)
        return 0;
    fuzz::Guest memory;
    Gpu gpu(fuzz::board(data[0]), mixed, fuzz::Guest::range);
    gpu.attach(&memory);
    Requests requests(gpu, Catalog(fuzz::model_data));
    std::string_view rest(reinterpret_cast<const char *>(data + 1), size - 1);
    for (unsigned i = 0; i < most && !rest.empty(); ++i) {
        const std::string line(rest.substr(0, rest.find('\n')));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        if (takes_long(line))
            continue;
        is_answer(requests.answer(line));
        static_cast<void>(gpu.bar_read(Bar::registers, 0x700000, 4));
        fuzz::check(gpu);
    }
    return 0;
}
