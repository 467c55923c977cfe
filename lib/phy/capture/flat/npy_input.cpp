#include "phy/capture/formats.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "phy/capture/element_type.hpp"
#include "phy/capture/flat/flat_file.hpp"
#include "phy/core/file_error.hpp"

namespace phy::detail {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t max_header = std::size_t{1} << 16;

constexpr int max_levels = 8;

/// A Python literal: the header of a .npy file.
struct PythonLiteral {
    enum class Kind { text, whole, boolean, none, list, tuple, dictionary };

    Kind kind = Kind::none;
    std::string text = {};                                            ///< of a string
    std::uint64_t whole = 0;                                          ///< not negative
    bool boolean = false;                                             ///< of True and False
    std::vector<PythonLiteral> items = {};                            ///< of a list or a tuple
    std::vector<std::pair<std::string, PythonLiteral>> entries = {};  ///< of a dictionary

    /// The value of a key of a dictionary; null without it.
    [[nodiscard]] const PythonLiteral* find(std::string_view key) const;
};

class LiteralParser {
public:
    explicit LiteralParser(std::string_view text) : rest_(text) {}

    /// False without a value, or if text follows it.
    bool parse_all(PythonLiteral& value) {
        if (!parse(value, 0)) return false;
        skip_space();
        return rest_.empty();
    }

private:
    using Kind = PythonLiteral::Kind;

    void skip_space() {
        const auto end = rest_.find_first_not_of(" \n");
        rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end);
    }

    bool take(std::string_view token) {
        skip_space();
        if (!rest_.starts_with(token)) return false;
        rest_.remove_prefix(token.size());
        return true;
    }

    bool parse(PythonLiteral& value, int level) {
        if (level > max_levels) return false;
        if (take("(")) return parse_items(value, Kind::tuple, ")", level);
        if (take("[")) return parse_items(value, Kind::list, "]", level);
        if (take("{")) return parse_entries(value, level);
        if (take("'")) return parse_text(value, '\'');
        if (take("\"")) return parse_text(value, '"');
        return parse_word(value);
    }

    bool parse_word(PythonLiteral& value) {
        if (take("None")) return true;
        value.kind = Kind::boolean;
        value.boolean = take("True");
        if (value.boolean || take("False")) return true;
        value.kind = Kind::whole;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value.whole);
        if (error != std::errc()) return false;
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        take("L");  // Python 2 appends it to large numbers
        return true;
    }

    bool parse_text(PythonLiteral& value, char quote) {
        const auto end = rest_.find(quote);
        if (end == std::string_view::npos) return false;
        value.kind = Kind::text;
        value.text = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        return value.text.find('\\') == std::string::npos;
    }

    bool parse_items(PythonLiteral& value, Kind kind, std::string_view end, int level) {
        value.kind = kind;
        while (!take(end)) {
            if (!value.items.empty() && !take(",")) return false;
            if (take(end)) return !value.items.empty();
            if (!parse(value.items.emplace_back(), level + 1)) return false;
        }
        return true;
    }

    bool parse_entries(PythonLiteral& value, int level) {
        value.kind = Kind::dictionary;
        while (!take("}")) {
            if (!value.entries.empty() && !take(",")) return false;
            if (take("}")) return !value.entries.empty();
            PythonLiteral key;
            if (!parse(key, level + 1) || key.kind != Kind::text || !take(":")) return false;
            if (!parse(value.entries.emplace_back(key.text, PythonLiteral()).second, level + 1)) return false;
        }
        return true;
    }

    std::string_view rest_;
};

const PythonLiteral* PythonLiteral::find(std::string_view key) const {
    const auto found = std::ranges::find(entries, key, &std::pair<std::string, PythonLiteral>::first);
    return found == entries.end() ? nullptr : &found->second;
}

/// Supports strings without escapes, keys that are strings, and whole numbers. Empty for anything else.
std::optional<PythonLiteral> parse_python_literal(std::string_view text) {
    PythonLiteral value;
    if (!LiteralParser(text).parse_all(value)) return std::nullopt;
    return value;
}

/// The header of an array and its length.
struct Header {
    std::string text;
    std::uint64_t end = 0;
};

Header read_header(const PosixFile& bytes, const std::string& name) {
    std::array<unsigned char, magic.size() + 6> head{};
    const std::size_t read = std::min<std::uint64_t>(head.size(), bytes.size());
    bytes.read_at(0, std::as_writable_bytes(std::span(head).first(read)));
    const unsigned version = head[magic.size()];
    if (version < 1 || version > 3)
        throw file_error(
            name, "has version " + std::to_string(version) + " of the .npy format: expected 1, 2 or 3");
    const std::size_t length_bytes = version == 1 ? 2 : 4;
    const std::uint64_t begin = magic.size() + 2 + length_bytes;
    std::uint64_t length = 0;
    for (std::size_t i = length_bytes; i-- > 0;)
        length = length << 8U | head[magic.size() + 2 + i];
    if (read < begin || length > bytes.size() - begin)
        throw file_error(name, "truncated file: ends in its header");
    if (length > max_header)
        throw file_error(name, "damaged: has a header of " + std::to_string(length) + " bytes");
    Header header = {std::string(length, ' '), begin + length};
    bytes.read_at(begin, std::as_writable_bytes(std::span(header.text)));
    return header;
}

/// Parses a type string such as "<f4".
struct NamedType {
    std::size_t bytes = 0;
    std::optional<NumberType> number = {};
    bool is_complex = false;
    bool is_uint8 = false;
};

std::optional<std::size_t> parse_size(std::string_view digits) {
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
    const bool is_all = error == std::errc() && end == digits.data() + digits.size();
    return is_all && size <= max_header ? std::optional(size) : std::nullopt;
}

/// Numbers have one of a few sizes; other types have any size.
bool has_size(char letter, std::size_t bytes) {
    switch (letter) {
        case 'b':
            return bytes == 1;
        case 'i':
        case 'u':
            return std::has_single_bit(bytes) && bytes <= 8;
        case 'f':
            return bytes == 12 || (std::has_single_bit(bytes) && bytes >= 2 && bytes <= 16);
        case 'c':
            return bytes == 24 || (std::has_single_bit(bytes) && bytes >= 4 && bytes <= 32);
        default:
            return true;
    }
}

std::optional<NamedType> parse_type(std::string_view text) {
    constexpr std::string_view orders = "<>=|";
    if (text.size() < 3 || orders.find(text[0]) == std::string_view::npos) return std::nullopt;
    const auto size = parse_size(text.substr(2));
    if (!size) return std::nullopt;
    NamedType type = {.bytes = *size, .is_complex = text[1] == 'c', .is_uint8 = text.substr(1) == "u1"};
    if (text[1] == 'U') type.bytes *= 4;
    const std::endian order = text[0] == '>' ? std::endian::big : std::endian::little;
    const std::size_t number_bytes = type.is_complex ? type.bytes / 2 : type.bytes;
    if (text[1] == 'f' || text[1] == 'i' || type.is_complex)
        type.number = parse_number_type(
            std::string(text[1] == 'i' ? "i" : "f").append(std::to_string(8 * number_bytes)), order);
    return type;
}

ElementType element_type(std::string_view text, const std::string& name) {
    const auto type = parse_type(text);
    const std::string described = "has elements of the type '" + std::string(text) + "'";
    if (!type) throw file_error(name, described + ", which is unknown");
    if (!has_size(text[1], type->bytes))
        throw file_error(name, "damaged: " + described + ", of no such size");
    if (type->is_complex && type->number) return pair_type(*type->number, text);
    return {
        .bytes = type->bytes,
        .text = type->number ? std::string(to_string(type->number->kind)) : "NumPy's " + std::string(text),
        .number = type->number,
        .is_uint8 = type->is_uint8};
}

/// Converts a list of (name, type); some entries are padding.
ElementType structured_type(const PythonLiteral& fields, const std::string& name) {
    std::vector<ElementType::Member> numbers;
    std::size_t offset = 0;
    std::size_t members = 0;
    for (const PythonLiteral& field : fields.items) {
        const bool is_plain = field.items.size() == 2 && field.items[1].kind == PythonLiteral::Kind::text;
        if (!is_plain) throw file_error(name, "has a structure of structures: expected two numbers");
        const ElementType type = element_type(field.items[1].text, name);
        const bool is_padding = field.items[0].text.empty() && !type.number && !type.pair;
        if (type.number) numbers.push_back({*type.number, offset});
        if (!is_padding) ++members;
        offset += type.bytes;
    }
    ElementType type = {.bytes = offset, .text = "compound of " + std::to_string(members) + " members"};
    if (members == 2 && numbers.size() == 2) type.pair = {numbers[0], numbers[1]};
    return type;
}

ElementType type_of(const PythonLiteral& descr, const std::string& name) {
    ElementType type = descr.kind == PythonLiteral::Kind::list ? structured_type(descr, name)
                                                               : element_type(descr.text, name);
    if (type.bytes == 0) throw file_error(name, "damaged: its elements have no bytes");
    return type;
}

Dimensions dimensions_of(const PythonLiteral& shape, const std::string& name) {
    using Kind = PythonLiteral::Kind;
    const auto is_whole = [](const PythonLiteral& length) { return length.kind == Kind::whole; };
    if (shape.kind != Kind::tuple || !std::ranges::all_of(shape.items, is_whole))
        throw file_error(name, "damaged: its shape is no tuple of whole numbers");
    Dimensions dimensions;
    for (const PythonLiteral& length : shape.items)
        dimensions.push_back(length.whole);
    return dimensions;
}

bool is_in_fortran_order(const PythonLiteral& order, const std::string& name) {
    if (order.kind != PythonLiteral::Kind::boolean)
        throw file_error(name, "damaged: its fortran_order is neither True nor False");
    return order.boolean;
}

bool has_order(const Dimensions& dimensions) {
    return std::ranges::count_if(dimensions, [](std::uint64_t length) { return length > 1; }) > 1;
}

std::uint64_t saturating_product(const Dimensions& dimensions) {
    std::uint64_t product = 1;
    for (const std::uint64_t length : dimensions)
        product = length != 0 && product > ~std::uint64_t{0} / length ? ~std::uint64_t{0} : product * length;
    return product;
}

}  // namespace

bool is_npy(std::span<const char> head) {
    return std::string_view(head.data(), head.size()).starts_with(magic);
}

std::unique_ptr<InputFile> open_npy(const std::filesystem::path& path, PosixFile bytes,
                                    const CaptureOptions& options) {
    const std::string name = path.string();
    const Header header = read_header(bytes, name);
    const auto literal = parse_python_literal(header.text);
    const auto* const descr = literal ? literal->find("descr") : nullptr;
    const auto* const order = literal ? literal->find("fortran_order") : nullptr;
    const auto* const shape = literal ? literal->find("shape") : nullptr;
    if (descr == nullptr || order == nullptr || shape == nullptr)
        throw file_error(name, "damaged: its header has no descr, fortran_order and shape");
    const Dimensions dimensions = dimensions_of(*shape, name);
    if (is_in_fortran_order(*order, name) && has_order(dimensions))
        throw file_error(name,
                         "is in Fortran order: expected C order, as from numpy.save(..., "
                         "numpy.ascontiguousarray(...))");
    FlatArray array = {.path = path_of_only_array(options, kind_of_stem(path)),
                       .type = type_of(*descr, name),
                       .dimensions = dimensions,
                       .storage = ".npy",
                       .runs = {{0, header.end}}};
    const std::uint64_t elements = saturating_product(dimensions);
    if (elements > (bytes.size() - header.end) / array.type.bytes)
        throw file_error(name, "truncated file: " + std::to_string(elements) + " elements of " +
                                   std::to_string(array.type.bytes) + " bytes do not fit into " +
                                   std::to_string(bytes.size()) + " bytes");
    return make_flat_file(name, {path}, std::move(bytes), {std::move(array)});
}

}  // namespace phy::detail
