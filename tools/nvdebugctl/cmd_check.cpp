// SPDX-License-Identifier: MIT OR GPL-2.0
#include <array>
#include <fmt/format.h>

#include "check/finding.hpp"
#include "commands.hpp"
#include "context.hpp"
#include "page.hpp"
#include "terminal.hpp"
#include "words.hpp"

namespace nvdebugctl {

namespace {

constexpr std::array verdicts = {Verdict::ok, Verdict::unknown, Verdict::attention,
                                 Verdict::trouble};

Json json_of(const Rule &rule, const Finding &finding) {
    Json evidence = Json::array();
    for (const Evidence &item : finding.evidence)
        evidence.push_back({{"file", item.file}, {"values", item.values}});
    return {{"rule", rule.name},
            {"question", finding.question},
            {"verdict", name_of(finding.verdict)},
            {"answer", finding.answer},
            {"evidence", std::move(evidence)}};
}

void print_wrapped(Page &page, const std::string &text, std::size_t indent,
                   const Terminal &terminal) {
    const std::size_t room =
        terminal.width.value_or(100) > indent + 20 ? terminal.width.value_or(100) - indent : 20;
    for (const std::string &line : break_lines(text, room))
        page.line(std::string(indent, ' ') + line);
}

void print(const Json &data, Page &page) {
    const Terminal terminal = this_terminal();
    for (const Json &finding : data["findings"]) {
        const auto verdict = finding["verdict"].get<std::string>();
        const bool heavy =
            verdict == name_of(Verdict::attention) || verdict == name_of(Verdict::trouble);
        const std::string shown = fmt::format("{:<9}", verdict);
        page.line(fmt::format("{}  {}  {}", page.bold(finding["rule"].get<std::string>()),
                              heavy ? page.warning(shown) : shown,
                              page.bold(finding["question"].get<std::string>())));
        print_wrapped(page, finding["answer"].get<std::string>(), 4, terminal);
        for (const Json &evidence : finding["evidence"])
            print_wrapped(page,
                          fmt::format("{}: {}", evidence["file"].get<std::string>(),
                                      evidence["values"].get<std::string>()),
                          6, terminal);
    }
    std::string counts;
    for (const auto &[verdict, count] : data["verdicts"].items())
        counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count.dump(), verdict);
    page.line(counts);
}

Outcome<Document> run(Context &context) {
    const Facts facts = read_facts(context.gpu());
    if (!facts.state.info)
        return tl::unexpected(Failure(facts.state.info.error()));
    for (const nvdebug::Error &error : errors_of(facts))
        context.missing(error);
    std::array<std::size_t, verdicts.size()> counts{};
    Json findings = Json::array();
    for (const Rule &rule : rules()) {
        const Finding finding = rule.find(facts);
        findings.push_back(json_of(rule, finding));
        ++counts.at(static_cast<std::size_t>(finding.verdict));
    }
    Json by_verdict = Json::object();
    for (const Verdict verdict : verdicts)
        by_verdict[name_of(verdict)] = counts.at(static_cast<std::size_t>(verdict));
    const bool trouble = counts.at(static_cast<std::size_t>(Verdict::trouble)) > 0;
    return Document{.data = {{"findings", findings}, {"verdicts", by_verdict}},
                    .exit = trouble ? failed : done};
}

} // namespace

std::vector<Command> check_commands() {
    return {
        {.object = "check",
         .help = "the questions of rules R1 to R8 about this GPU, each with its evidence",
         .notes =
             {"The rules are those of Bakita and Anderson, 'Demystifying NVIDIA GPU Internals "
              "to Enable Reliable GPU Management', RTAS 2024.",
              "ok: tasks are as independent as the rule allows. attention: tasks wait for each "
              "other here, and an analysis has to count with it. unknown: not readable, or not "
              "public on this chip. trouble: work is stuck, or the state contradicts itself.",
              "Exit status: 2 if there is trouble, else 4 if a file could not be read or a "
              "list was torn, else 0. attention changes nothing: it is how GPUs are built and "
              "used."},
         .examples = {{"nvdebugctl check", "read before you trust a response-time analysis"},
                      {"nvdebugctl check -j | jq .data.verdicts", "how many answers of each kind"}},
         .run = run,
         .text = print}};
}

} // namespace nvdebugctl
