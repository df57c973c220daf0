// SPDX-License-Identifier: MIT OR GPL-2.0
/// @file Lines that a program of the tests reads and prints.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

/// The words of a line behind its verb.
class Words {
  public:
    explicit Words(const std::string &line) : line_(line) {}

    /// Returns the next word, or @p otherwise if there is none.
    std::string word(const std::string &otherwise = "") {
        std::string word;
        return line_ >> word ? word : otherwise;
    }
    /// Returns the next word if it is a number, or else @p otherwise.
    std::uint64_t number(std::uint64_t otherwise) {
        std::uint64_t value = 0;
        if (line_ >> value)
            return value;
        line_.clear();
        return otherwise;
    }
    std::string rest() {
        std::string rest;
        std::getline(line_ >> std::ws, rest);
        return rest;
    }

  private:
    std::istringstream line_;
};

/// Returns SMs as `0-3,8`.
inline std::string text_of(const std::vector<unsigned> &sms) {
    std::string text;
    for (std::size_t i = 0; i < sms.size(); i++) {
        if (i && sms[i] == sms[i - 1] + 1 && i + 1 < sms.size() && sms[i + 1] == sms[i] + 1)
            continue;
        const bool goes_on = i && sms[i] == sms[i - 1] + 1;
        text += (i ? goes_on ? "-" : "," : "") + std::to_string(sms[i]);
    }
    return text.empty() ? "-" : text;
}
