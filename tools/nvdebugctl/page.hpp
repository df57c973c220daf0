// SPDX-License-Identifier: MIT OR GPL-2.0
/** @file Text for a person, with or without colour. Colour never carries meaning alone. */
#ifndef NVDEBUGCTL_PAGE_HPP
#define NVDEBUGCTL_PAGE_HPP

#include <string>
#include <string_view>

#include "document.hpp"

namespace nvdebugctl {

class Page {
  public:
    explicit Page(bool color) : color_(color) {}

    std::string bold(std::string_view text) const;
    std::string dim(std::string_view text) const;
    /** Something a person should look at. */
    std::string warning(std::string_view text) const;

    /** What neither this page's styles nor text is (printable.hpp) is shown replaced. */
    void line(std::string_view text);
    const std::string &text() const { return text_; }

  private:
    std::string styled(std::string_view style, std::string_view text) const;

    bool color_;
    std::string text_;
};

/** Every key of @p data on a line of its own, `key: value`; what is nested, below and indented. */
void print_fields(const Json &data, Page &page, int indent = 0);

} // namespace nvdebugctl

#endif
