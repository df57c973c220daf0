// SPDX-License-Identifier: MIT OR GPL-2.0
// The words of one GPU of a capture.
#pragma once

#include "lib/driver/words.hpp"

#include <map>
#include <memory>
#include <span>
#include <string>

namespace nvdebug::bridge {

/// The words that a capture has for each file. They were read one file after the other, while the
/// GPU went on. They are shown in one of two ways: the last value of every word, with the files
/// ordered by name; or the words that were read for one file, in the order in which they were read.
class CaptureWords final : public driver::Words {
  public:
    /// Makes the words of one GPU. @p words are all words of a capture, and @p gpu is the GPU's
    /// folder: `gpu0`.
    [[nodiscard]] static Result<std::unique_ptr<CaptureWords>>
    make(std::map<std::string, std::string> words, std::string gpu);

    /// Shows the words of a file (`runlist0`), beginning with the first one again; empty: all
    /// words. Fails if there are none.
    [[nodiscard]] Result<void> show(const std::string &file);

    [[nodiscard]] Result<void> registers(std::span<const std::uint32_t> offsets,
                                         std::span<std::uint32_t> values) override {
        return shown_.registers(offsets, values);
    }
    [[nodiscard]] Result<void> memory(std::uint64_t address,
                                      std::span<std::uint32_t> words) override {
        return shown_.memory(address, words);
    }

  private:
    CaptureWords(std::map<std::string, std::string> words, std::string gpu)
        : words_(std::move(words)), gpu_(std::move(gpu)) {}

    std::map<std::string, std::string> words_;
    std::string gpu_;
    driver::RecordedWords shown_;
};

} // namespace nvdebug::bridge
