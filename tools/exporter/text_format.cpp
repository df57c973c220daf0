// SPDX-License-Identifier: MIT OR GPL-2.0
#include "text_format.hpp"

#include <cmath>
#include <fmt/format.h>
#include <string_view>

namespace nvdebug::exporter {
namespace {

/// Returns the text with a backslash before each of the @p special characters, and with \n in place
/// of line ends.
std::string escaped(std::string_view text, std::string_view special) {
    std::string to;
    for (const char c : text) {
        if (special.find(c) != special.npos)
            to += '\\';
        if (c == '\n')
            to += "\\n";
        else
            to += c;
    }
    return to;
}

std::string number(double value) {
    if (std::isnan(value))
        return "NaN";
    if (std::isinf(value))
        return value > 0 ? "+Inf" : "-Inf";
    return fmt::format("{}", value);
}

void add_line(std::string &to, const std::string &name, const Labels &labels,
              const std::string &value) {
    to += name;
    const char *before = "{";
    for (const Label &label : labels) {
        to += before + label.name + "=\"" + escaped(label.value, "\\\"") + '"';
        before = ",";
    }
    to += (labels.empty() ? " " : "} ") + value + '\n';
}

} // namespace

std::string &TextFormat::lines_of(const std::string &family, const std::string &help,
                                  const char *type) {
    const auto [at, fresh] = place_.try_emplace(family, families_.size());
    if (fresh)
        families_.push_back("# HELP " + family + ' ' + escaped(help, "\\") + "\n# TYPE " + family +
                            ' ' + type + '\n');
    return families_[at->second];
}

void TextFormat::counter(const std::string &family, const std::string &help, const Labels &labels,
                         double value) {
    add_line(lines_of(family, help, "counter"), family, labels, number(value));
}

void TextFormat::gauge(const std::string &family, const std::string &help, const Labels &labels,
                       double value) {
    add_line(lines_of(family, help, "gauge"), family, labels, number(value));
}

void TextFormat::summary(const std::string &family, const std::string &help, const Labels &labels,
                         std::uint64_t count, double sum, const std::vector<Quantile> &quantiles) {
    std::string &lines = lines_of(family, help, "summary");
    add_line(lines, family + "_count", labels, std::to_string(count));
    add_line(lines, family + "_sum", labels, number(sum));
    for (const Quantile &one : quantiles) {
        Labels all = labels;
        all.push_back({"quantile", number(one.part)});
        add_line(lines, family, all, number(one.value));
    }
}

std::string TextFormat::text() const {
    std::string all;
    for (const std::string &family : families_)
        all += family;
    return all;
}

} // namespace nvdebug::exporter
