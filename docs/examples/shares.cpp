// SPDX-License-Identifier: MIT OR GPL-2.0
// What part of runlist 0 each task gets: shares [CAPTURE]
#include <iostream>
#include <nvdebug/nvdebug.hpp>

int main(int argc, char **argv) {
    auto tree = argc > 1 ? nvdebug::Tree::open(argv[1]) : nvdebug::Tree::running();
    if (!tree) {
        std::cerr << tree.error().sentence << "\n";
        return 2;
    }
    auto list = nvdebug::Gpu(*tree, 0).runlist(0, nvdebug::Detail::brief);
    if (!list) {
        std::cerr << list.error().sentence << "\n";
        return 2;
    }
    for (const nvdebug::TsgShare &tsg : nvdebug::expected_shares(*list)) {
        std::cout << "TSG " << tsg.tsg << ": " << tsg.timeslice_ns << " ns";
        if (tsg.share)
            std::cout << ", " << 100 * *tsg.share << " %";
        std::cout << "\n";
    }
}
