// SPDX-License-Identifier: MIT OR GPL-2.0
#include "completion.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "lib/partition/gpus.hpp"
#include "option_table.hpp"

namespace nvtaskset {
namespace {

const Option *find_long(std::string_view name) {
    const auto found = std::ranges::find(
        option_table(), name, [](const Option &one) { return std::string_view(one.name); });
    return found == option_table().end() ? nullptr : &*found;
}

const Option *find_letter(char letter) {
    const auto found = std::ranges::find(option_table(), static_cast<int>(letter), &Option::id);
    return found == option_table().end() ? nullptr : &*found;
}

/// Returns the option of @p word that takes the next word, as its value or PID; of joined letters
/// (-xt) this is the last.
const Option *taker(std::string_view word) {
    if (word.starts_with("--")) {
        const Option *const found = find_long(word.substr(2));
        return found && (found->takes_value() || found->id == 'p') ? found : nullptr;
    }
    for (std::size_t n = 1; n < word.size(); n++) {
        const Option *const found = find_letter(word[n]);
        const bool is_last = n + 1 == word.size();
        if (!found || found->takes_value() || (is_last && found->id == 'p'))
            return is_last ? found : nullptr; // else the rest of the word is its value
    }
    return nullptr;
}

std::vector<std::string> processes() {
    std::vector<std::string> found;
    std::error_code error;
    for (const auto &entry : std::filesystem::directory_iterator("/proc", error)) {
        const std::string pid = entry.path().filename();
        if (pid.find_first_not_of("0123456789") != pid.npos)
            continue;
        std::string command;
        std::getline(std::ifstream(entry.path() / "comm"), command);
        found.push_back(pid + "\t" + command);
    }
    return found;
}

std::vector<std::string> folders(const std::string &typed) {
    const std::size_t slash = typed.rfind('/');
    const std::string parent = slash == typed.npos ? "" : typed.substr(0, slash + 1);
    std::vector<std::string> found;
    std::error_code error;
    for (const auto &entry :
         std::filesystem::directory_iterator(parent.empty() ? "." : parent, error))
        if (entry.is_directory(error))
            found.push_back(parent + entry.path().filename().string() + "/");
    return found;
}

std::vector<std::string> values_of(const Option &option, const std::string &typed) {
    switch (option.id) {
    case 'i': {
        std::vector<std::string> gpus = {"all"};
        const auto found = Gpus::find();
        for (std::size_t n = 0; found && n < found->count(); n++)
            gpus.push_back(std::to_string(n) + "\t" + found->address(n));
        return gpus;
    }
    case 'p':
        return processes();
    case opt_cdi_folder:
        return folders(typed);
    case opt_turn:
        return {"1", "2", "3", "4", "5", "6", "7", "8", "9"};
    default:
        return {};
    }
}

std::vector<std::string> options() {
    std::vector<std::string> all;
    for (const Option &option : option_table()) {
        const std::string_view help = option.help;
        all.push_back("--" + std::string(option.name) + "\t" +
                      std::string(help.substr(0, help.find('\n'))));
    }
    return all;
}

std::vector<std::string> matching(const std::vector<std::string> &candidates,
                                  const std::string &typed, const std::string &before = "") {
    std::vector<std::string> found;
    for (const std::string &candidate : candidates)
        if (candidate.starts_with(typed))
            found.push_back(before + candidate);
    return found;
}

} // namespace

std::vector<std::string> completions(const std::vector<std::string> &words) {
    if (words.empty())
        return {};
    const std::size_t last = words.size() - 1;
    const std::string &typed = words[last];
    bool only_command = false;
    std::size_t at = 0;
    while (at < last && words[at].starts_with('-') && !only_command) {
        only_command = words[at] == "--";
        const Option *const option = taker(words[at]);
        at += option ? 2 : 1;
        if (at > last)
            return matching(values_of(*option, typed), typed);
    }
    if (at < last || only_command || !typed.starts_with('-'))
        return {"@" + std::to_string(at)};
    if (const std::size_t sign = typed.find('='); typed.starts_with("--") && sign != typed.npos) {
        const Option *const option = find_long(std::string_view(typed).substr(2, sign - 2));
        const std::string value = typed.substr(sign + 1);
        return option && option->takes_value()
                   ? matching(values_of(*option, value), value, typed.substr(0, sign + 1))
                   : std::vector<std::string>();
    }
    return matching(options(), typed);
}

} // namespace nvtaskset
