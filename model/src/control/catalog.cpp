// SPDX-License-Identifier: MIT OR GPL-2.0
#include "control/catalog.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <system_error>

namespace nvmodel {

std::filesystem::path Catalog::board(const std::string &name) const {
    return find("boards", name);
}

std::filesystem::path Catalog::workload(const std::string &name) const {
    return find("workloads", name);
}

std::vector<std::string> Catalog::names(const std::string &kind) const {
    std::vector<std::string> found;
    std::error_code error;
    for (const auto &entry : std::filesystem::directory_iterator(folder_ / kind, error))
        if (entry.path().extension() == ".json")
            found.push_back(entry.path().stem().string());
    std::ranges::sort(found);
    return found;
}

std::filesystem::path Catalog::find(const std::string &kind, const std::string &name) const {
    if (name.find('/') != std::string::npos)
        return name;
    const auto known = names(kind);
    if (std::ranges::find(known, name) != known.end())
        return folder_ / kind / (name + ".json");
    std::string text = "no \"" + name + "\" among the " + kind + " in " + folder_.string() + ":";
    for (const std::string &each : known)
        text += " " + each;
    throw ConfigError(text + " (a path needs a \"/\")");
}

} // namespace nvmodel
