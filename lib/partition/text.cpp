// SPDX-License-Identifier: MIT OR GPL-2.0
#include "text.hpp"

namespace nvtaskset {

std::string bits_text(const Bits &bits) {
    std::string text;
    for (std::size_t digit = bits.size() * 8; digit-- > 0;) {
        const std::uint32_t value = bits[digit / 8] >> digit % 8 * 4 & 0xf;
        if (value || !text.empty() || !digit)
            text += "0123456789abcdef"[value];
    }
    return text;
}

std::string uuid_text(const Uuid &uuid) {
    std::string text = "GPU";
    for (std::size_t byte = 0; byte < uuid.size(); byte++) {
        if (byte == 0 || (byte >= 4 && byte <= 10 && byte % 2 == 0))
            text += '-';
        text += "0123456789abcdef"[uuid[byte] >> 4];
        text += "0123456789abcdef"[uuid[byte] & 0xf];
    }
    return text;
}

std::string partition_text(const Partition &partition) {
    return uuid_text(partition.uuid) + ":" + bits_text(partition.disabled) + ":" +
           bits_text(partition.exists) + ":" + std::to_string(partition.sms) + ":" +
           std::to_string(partition.largest_gpc);
}

std::string page_name_text(const PageName &name) {
    return std::to_string(name.pid) + ":" + std::to_string(name.descriptor) + ":" +
           std::to_string(name.inode);
}

} // namespace nvtaskset
