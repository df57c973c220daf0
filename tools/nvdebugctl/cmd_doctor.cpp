// SPDX-License-Identifier: MIT OR GPL-2.0
#include <algorithm>

#include "commands.hpp"
#include "context.hpp"
#include "doctor/findings.hpp"
#include "page.hpp"

namespace nvdebugctl {
namespace {

using doctor::Finding;
using doctor::Verdict;

Outcome<Document> examine(Context &) {
    const std::vector<Finding> findings = doctor::judge(doctor::gather(""));
    Document document;
    Json rows = Json::array();
    for (const Finding &finding : findings)
        rows.push_back({{"subject", finding.subject},
                        {"verdict", doctor::name_of(finding.verdict)},
                        {"finding", finding.sentence},
                        {"fix", finding.fix.empty() ? Json() : Json(finding.fix)}});
    document.data = {{"findings", rows}};
    document.rows = std::move(rows);
    if (std::ranges::count(findings, Verdict::trouble, &Finding::verdict))
        document.exit = failed;
    return document;
}

void show(const Json &data, Page &page) {
    for (const Json &finding : data["findings"]) {
        const std::string verdict = finding["verdict"];
        std::string line =
            verdict + std::string(verdict.size() < 11 ? 11 - verdict.size() : 1, ' ');
        line +=
            finding["subject"].get<std::string>() + ": " + finding["finding"].get<std::string>();
        page.line(verdict == "ok" ? line : page.warning(line));
        if (!finding["fix"].is_null())
            page.line(std::string(11, ' ') + "fix: " + finding["fix"].get<std::string>());
    }
}

} // namespace

std::vector<Command> doctor_commands() {
    return {
        {.object = "doctor",
         .verb = "",
         .help = "is everything in place? module, signature, lockdown, rights, driver, chips",
         .scope = Scope::nothing,
         .columns = {{"subject", "what it is about; a GPU by its PCI address"},
                     {"verdict", "ok; unknown: this machine does not say; attention: part of it is "
                                 "not to be had like this; trouble: "
                                 "nothing works until it is mended"},
                     {"finding", "what was found"},
                     {"fix", "what to do; null: nothing"}},
         .notes = {"Exit status 2 if there is trouble. It looks at the machine, not at captures."},
         .examples = {{"nvdebugctl doctor", "before asking anybody else"}},
         .run = examine,
         .text = show},
    };
}

} // namespace nvdebugctl
