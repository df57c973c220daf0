// SPDX-License-Identifier: MIT OR GPL-2.0
#include "lib/base/mdoc.hpp"

#include <cctype>

namespace nvdebug::base::mdoc {

std::string text(const std::string &text) {
    std::string out;
    bool begins = true;
    for (std::size_t at = 0; at < text.size(); at++) {
        const char each = text[at];
        if (begins && (each == '.' || each == '\''))
            out += "\\&";
        const bool ends = each == ' ' && at && text[at - 1] == '.' && at + 1 < text.size() &&
                          std::isupper(static_cast<unsigned char>(text[at + 1]));
        out += ends ? "\n" : each == '\\' ? "\\e" : std::string(1, each);
        begins = ends || each == '\n';
    }
    return out;
}

std::string word(const std::string &word) {
    std::string out = text(word);
    for (std::size_t at; (at = out.find('"')) != out.npos;)
        out.replace(at, 1, "\\(dq");
    return out;
}

std::string sentence(std::string help) {
    if (help.empty())
        return "";
    help[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(help[0])));
    return text(help) + (help.ends_with('.') || help.ends_with('?') ? "\n" : ".\n");
}

std::string value(const std::string &name) {
    std::string out;
    for (const char each : name)
        out += each == '|' ? " | " : std::string(1, each);
    return text(out);
}

std::string flag(const std::string &name) {
    return name.starts_with("--") ? "Fl Fl " + name.substr(2) : "Fl " + name.substr(1);
}

std::string flags(const std::string &short_name, const std::string &name,
                  const std::string &value) {
    return (short_name.empty() ? "" : flag(short_name) + " , ") + flag(name) +
           (value.empty() ? "" : " Ar " + value);
}

std::string list(const std::string &items) {
    return items.empty() ? "" : ".Bl -tag -width Ds\n" + items + ".El\n";
}

} // namespace nvdebug::base::mdoc
