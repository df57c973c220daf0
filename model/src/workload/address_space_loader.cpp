// SPDX-License-Identifier: MIT OR GPL-2.0
#include "workload/address_space_loader.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace nvmodel {
namespace {

using namespace mmu;

constexpr std::size_t max_mappings = 1024;
constexpr unsigned max_pages = 4096;
constexpr std::uint32_t max_pasid = (1U << 20) - 1;
constexpr std::uint64_t max_context_va = (1ULL << 57) - 1;

constexpr std::array<std::pair<std::string_view, std::uint64_t>, 6> page_sizes{
    {{"4k", 4 * kib},
     {"64k", 64 * kib},
     {"128k", 128 * kib},
     {"2m", 2 * mib},
     {"512m", 512 * mib},
     {"256g", 256 * gib}}};

std::uint64_t read_page_size(const JsonValue &value) {
    for (const auto &[name, size] : page_sizes)
        if (value.text() == name)
            return size;
    value.fail("expected 4k, 64k, 128k, 2m, 512m or 256g");
}

std::uint64_t read_big_page(const JsonValue &value) {
    if (value.text() == "64k")
        return 64 * kib;
    if (value.text() == "128k")
        return 128 * kib;
    value.fail("expected 64k or 128k");
}

Version read_version(const JsonValue &value) {
    for (const auto &[name, version] :
         {std::pair("v1", Version::v1), std::pair("v2", Version::v2), std::pair("v3", Version::v3)})
        if (value.text() == name)
            return version;
    value.fail("expected v1, v2 or v3");
}

PageAperture read_page_aperture(const JsonValue &value) {
    if (value.text() == name_of(PageAperture::peer))
        return PageAperture::peer;
    return page_address({read_aperture(value), 0}).aperture;
}

MappingSpec read_mapping(const JsonValue &value) {
    JsonObject object(value);
    MappingSpec mapping{.where = value};
    mapping.va = object.at("va").number(0, ~std::uint64_t{0});
    const auto page = object.find("page");
    mapping.page_size = page ? read_page_size(*page) : small_page;
    if (const auto pages = object.find("pages"))
        mapping.pages = pages->number32(1, max_pages);
    if (const auto sparse = object.find("sparse"))
        mapping.sparse = sparse->boolean();
    const auto aperture = object.find("aperture");
    const auto address = object.find("address");
    if (mapping.sparse && (aperture || address))
        value.fail("a sparse range has neither \"aperture\" nor \"address\"");
    if (aperture)
        mapping.aperture = read_page_aperture(*aperture);
    if (address)
        mapping.address = address->number(0, ~std::uint64_t{0});
    object.finish();
    return mapping;
}

AddressSpaceSpec read_address_space(const JsonValue &value) {
    JsonObject object(value);
    AddressSpaceSpec space{.where = value};
    if (const auto aperture = object.find("directory_aperture"))
        space.directory_aperture = read_aperture(*aperture);
    if (const auto aperture = object.find("table_aperture"))
        space.table_aperture = read_aperture(*aperture);
    if (const auto pasid = object.find("pasid"))
        space.pasid = pasid->number32(0, max_pasid);
    if (const auto ats = object.find("ats"))
        space.ats = ats->boolean();
    if (const auto big_page = object.find("big_page"))
        space.big_page = read_big_page(*big_page);
    if (const auto version = object.find("page_tables"))
        space.page_tables = read_version(*version);
    if (const auto va = object.find("context_va")) {
        space.context_va = va->number(0, max_context_va);
        if (*space.context_va % small_page != 0)
            va->fail("must be a multiple of 4 KiB");
    }
    if (const auto mappings = object.find("mappings")) {
        space.mappings.emplace();
        for (const JsonValue &item : mappings->items(max_mappings))
            space.mappings->push_back(read_mapping(item));
    }
    object.finish();
    return space;
}

} // namespace

Aperture read_aperture(const JsonValue &value) {
    for (const Aperture aperture : {Aperture::video, Aperture::coherent, Aperture::noncoherent})
        if (value.text() == name_of(aperture))
            return aperture;
    value.fail("expected vid, coh or ncoh");
}

std::map<std::string, AddressSpaceSpec> read_address_spaces(const JsonValue &value) {
    JsonObject object(value);
    std::map<std::string, AddressSpaceSpec> spaces;
    for (const std::string &name : object.keys())
        spaces.emplace(name, read_address_space(object.at(name)));
    return spaces;
}

} // namespace nvmodel
