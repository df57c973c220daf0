// SPDX-License-Identifier: MIT OR GPL-2.0
// The words of one GPU of a capture.
#pragma once

#include "lib/driver/words.hpp"

#include <map>
#include <memory>
#include <span>
#include <string>

namespace nvdebug::bridge {

/// A capture has the words that were read for each file, one file after the other, while the GPU
/// went on. They are shown in one of two ways: all of them, each with its last value
/// (of files by name),
/// or those that were read for one file, in the order in which they were read.
class CaptureWords final : public driver::Words {
  public:
    /// @p words are a capture's, @p gpu is the folder, `gpu0`.
    [[nodiscard]] static Result<std::unique_ptr<CaptureWords>>
    make(std::map<std::string, std::string> words, std::string gpu);

    /// Shows those of a file (`runlist0`), from the first again; empty: all. Fails if there are
    /// none.
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
