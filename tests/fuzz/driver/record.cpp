// SPDX-License-Identifier: MIT OR GPL-2.0
// Words that a capture holds: the words of a GPU, and after a 0 byte the words of a file.
#include "fuzz.hpp"
#include "lib/nvdebug/driver_tree.hpp"

using namespace nvdebug;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const std::string input(reinterpret_cast<const char *>(data), size);
    const std::size_t end = std::min(input.find('\0'), input.size());
    const std::string of_file = input.substr(std::min(end + 1, input.size()));
    for (const std::string file : {"runlist0", "engines", "contexts"}) {
        const auto text = driver::replay(
            {{"gpu0", input.substr(0, end)}, {"gpu0/" + file, of_file}}, "gpu0", file);
        FUZZ_REQUIRE(text || text.error().code == ErrorCode::malformed || text.error().number);
    }
    return 0;
}
