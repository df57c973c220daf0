// SPDX-License-Identifier: MIT OR GPL-2.0
#include "capture_words.hpp"

namespace nvdebug::bridge {

Result<std::unique_ptr<CaptureWords>> CaptureWords::make(std::map<std::string, std::string> words,
                                                         std::string gpu) {
    std::unique_ptr<CaptureWords> made(new CaptureWords(std::move(words), std::move(gpu)));
    if (auto shown = made->show(""); !shown)
        return tl::unexpected(std::move(shown).error());
    return made;
}

Result<void> CaptureWords::show(const std::string &file) {
    const std::string wanted = gpu_ + "/" + file;
    if (!file.empty() && !words_.contains(wanted))
        return tl::unexpected(Error{ErrorCode::not_found, 0, "",
                                    "the capture has no words that were read for " + wanted});
    driver::RecordedWords chosen;
    for (const auto &[name, record] : words_)
        if (name == gpu_ || (file.empty() ? name.starts_with(gpu_ + "/") : name == wanted))
            if (auto added = chosen.add(record); !added)
                return added;
    if (file.empty())
        chosen.keep_last();
    shown_ = std::move(chosen);
    return {};
}

} // namespace nvdebug::bridge
