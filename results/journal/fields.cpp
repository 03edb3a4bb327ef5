#include <tessera/journal/fields.hpp>

#include <cstring>

namespace tessera::fields {

void put_ids(WireWriter& out, std::uint32_t tag, const std::vector<Id128>& ids) {
    if (ids.empty()) return;
    static_assert(sizeof(Id128) == 16);
    out.bytes_field(tag, {reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(Id128)});
}

std::vector<Id128> read_ids(const WireReader& in) {
    const std::string_view bytes = in.as_bytes();
    if (bytes.size() % sizeof(Id128) != 0) in.fail("a list of ids is cut short");
    std::vector<Id128> ids(bytes.size() / sizeof(Id128));
    if (!ids.empty()) std::memcpy(ids.data(), bytes.data(), bytes.size());
    return ids;
}

void put_numbers(WireWriter& out, std::uint32_t tag, const std::vector<std::uint32_t>& numbers) {
    out.record_field(tag, [&](WireWriter& nested) {
        for (const std::uint32_t number : numbers)
            nested.uint_field(1, number);
    });
}

std::vector<std::uint32_t> read_numbers(const WireReader& in) {
    std::vector<std::uint32_t> numbers;
    WireReader nested = in.as_record();
    numbers.reserve(in.as_bytes().size() / 2);
    while (nested.next())
        if (nested.tag() == 1) numbers.push_back(nested.as_uint32());
    return numbers;
}

} // namespace tessera::fields
