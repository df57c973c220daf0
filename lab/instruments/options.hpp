// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file `name=value` words of a command line. */
#ifndef NVDEBUG_LAB_OPTIONS_HPP
#define NVDEBUG_LAB_OPTIONS_HPP

#include "gpu.hpp"

#include <cstdlib>
#include <map>

namespace lab {

class Options {
  public:
    Options(int count, char **words) {
        for (int n = 0; n < count; n++) {
            const std::string word = words[n];
            const auto at = word.find('=');
            if (at == std::string::npos)
                fail("'" + word + "' is not NAME=VALUE");
            values_[word.substr(0, at)] = word.substr(at + 1);
        }
    }

    std::string text(const std::string &name, const std::string &otherwise) {
        const auto found = values_.extract(name);
        return found ? found.mapped() : otherwise;
    }
    /** @return a number from 0 to @p most */
    std::uint64_t number(const std::string &name, std::uint64_t otherwise, std::uint64_t most) {
        const auto found = values_.extract(name);
        if (!found)
            return otherwise;
        char *end = nullptr;
        const unsigned long long value = std::strtoull(found.mapped().c_str(), &end, 0);
        if (found.mapped().empty() || *end || value > most)
            fail(name + "=" + found.mapped() + ": a number up to " + std::to_string(most) +
                 " is expected");
        return value;
    }
    /** @return a number of blocks: `4`, or `2x` for two on each SM */
    unsigned blocks(unsigned sms, const std::string &otherwise) {
        const std::string value = text("blocks", otherwise);
        const bool on_each = value.ends_with('x');
        values_["blocks"] = on_each ? value.substr(0, value.size() - 1) : value;
        const auto count = static_cast<unsigned>(number("blocks", 1, 65'535) * (on_each ? sms : 1));
        return count ? count : (fail("blocks must not be 0"), 0);
    }
    /** Fails if the command line has an option that was not asked for before this call. */
    void none_left() const {
        if (!values_.empty())
            fail("this instrument has no option '" + values_.begin()->first + "'");
    }

  private:
    std::map<std::string, std::string> values_;
};

/** Prints `ready` on stderr, and waits for a line on stdin or its end, so that several instruments
 * start at once. */
void ready();

/** The longest that any instrument may be asked to run, so that none outlives its experiment. */
constexpr std::uint64_t longest_ms = 20'000;

} // namespace lab

#endif
