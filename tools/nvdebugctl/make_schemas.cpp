// SPDX-License-Identifier: MIT OR GPL-2.0
// Writes the JSON schemas of all commands: make_schemas FOLDER
#include <fstream>
#include <iostream>

#include "commands.hpp"
#include "schema.hpp"

int main(int argc, char **argv) {
    if (argc != 2)
        return 1;
    for (const auto &[name, text] : nvdebugctl::schemas(nvdebugctl::all_objects())) {
        std::ofstream file(std::string(argv[1]) + "/" + name);
        if (!(file << text).flush()) {
            std::cerr << "cannot write " << name << "\n";
            return 1;
        }
    }
    return 0;
}
