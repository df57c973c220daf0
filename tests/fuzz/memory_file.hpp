// SPDX-License-Identifier: MIT OR GPL-2.0
// A file in memory only, for code that needs a path.
#ifndef NVDEBUG_TESTS_FUZZ_MEMORY_FILE_HPP
#define NVDEBUG_TESTS_FUZZ_MEMORY_FILE_HPP

#include "fuzz.hpp"

#include <string>
#include <string_view>

#include <sys/mman.h>
#include <unistd.h>

namespace fuzz {

class MemoryFile {
  public:
    explicit MemoryFile(std::string_view text) : descriptor_(::memfd_create("input", MFD_CLOEXEC)) {
        FUZZ_REQUIRE(descriptor_ >= 0);
        FUZZ_REQUIRE(::write(descriptor_, text.data(), text.size()) ==
                     static_cast<ssize_t>(text.size()));
    }
    MemoryFile(const MemoryFile &) = delete;
    MemoryFile &operator=(const MemoryFile &) = delete;
    ~MemoryFile() { ::close(descriptor_); }

    std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

  private:
    int descriptor_;
};

} // namespace fuzz

#endif
