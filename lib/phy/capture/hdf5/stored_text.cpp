#include "phy/capture/hdf5/stored_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// The layout is that of the HDF5 File Format Specification, version 3.0: object headers (IV.A.1.a), messages
/// of attributes and continuations (IV.A.2), global heaps (III.E).
namespace phy::hdf5 {

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t size_of_address = 8;
constexpr std::size_t size_of_length = 8;
constexpr std::size_t max_header = std::size_t{1} << 24;  ///< bytes of an object header
constexpr std::size_t max_heap = std::size_t{1} << 24;    ///< bytes of a heap collection

constexpr std::uint64_t attribute_message = 0x0C;
constexpr std::uint64_t continuation_message = 0x10;
constexpr std::uint64_t is_shared = 2;

/// Reads numbers, little-endian, and bytes one after another. Beyond the end all are 0.
class Cursor {
public:
    explicit Cursor(std::span<const std::byte> bytes) : left_(bytes) {}

    [[nodiscard]] std::size_t left() const { return left_.size(); }
    [[nodiscard]] bool is_beyond() const { return is_beyond_; }

    std::span<const std::byte> take(std::uint64_t count) {
        is_beyond_ = is_beyond_ || count > left_.size();
        const std::span taken =
            left_.first(static_cast<std::size_t>(std::min<std::uint64_t>(count, left_.size())));
        left_ = left_.subspan(taken.size());
        return taken;
    }

    std::uint64_t number(std::size_t bytes) {
        std::uint64_t value = 0;
        int shift = 0;
        for (const std::byte byte : take(bytes)) {
            value |= std::to_integer<std::uint64_t>(byte) << shift;
            shift += 8;
        }
        return value;
    }

private:
    std::span<const std::byte> left_;
    bool is_beyond_ = false;
};

constexpr std::uint64_t whole_words(std::uint64_t bytes) {
    return (bytes + 7) / 8 * 8;
}

std::string text_of(std::span<const std::byte> bytes) {
    const auto* const first = reinterpret_cast<const char*>(bytes.data());
    return {first, std::find(first, first + bytes.size(), '\0')};
}

/// Where an attribute's string is.
struct HeapPlace {
    std::uint64_t length;
    std::uint64_t collection;
    std::uint64_t index;
};

/// The place in an attribute message, if the attribute has that name.
std::optional<HeapPlace> place_in(std::span<const std::byte> message, std::string_view name) {
    Cursor cursor(message);
    const std::uint64_t version = cursor.number(1);
    if (version < 1 || version > 3) return std::nullopt;
    cursor.take(1);
    const std::uint64_t name_size = cursor.number(2);
    const std::uint64_t type_size = cursor.number(2);
    const std::uint64_t space_size = cursor.number(2);
    if (version == 3) cursor.take(1);
    const auto size = [&](std::uint64_t bytes) { return version == 1 ? whole_words(bytes) : bytes; };
    if (text_of(cursor.take(size(name_size))) != name) return std::nullopt;
    cursor.take(size(type_size));
    cursor.take(size(space_size));
    const HeapPlace place = {cursor.number(4), cursor.number(size_of_address), cursor.number(4)};
    return cursor.is_beyond() ? std::nullopt : std::optional(place);
}

/// The bytes of a file. Addresses count from its base.
class StoredFile {
public:
    StoredFile(const detail::PosixFile& bytes, std::uint64_t base) : bytes_(bytes), base_(base) {}

    /// Empty if they are not all in the file.
    [[nodiscard]] Bytes read(std::uint64_t address, std::uint64_t count) const {
        const std::uint64_t size = bytes_.size();
        if (base_ > size || address > size - base_ || count > size - base_ - address) return {};
        Bytes read(static_cast<std::size_t>(count));
        bytes_.read_at(base_ + address, read);
        return read;
    }

private:
    const detail::PosixFile& bytes_;
    std::uint64_t base_;
};

/// Searches an object header of version 1.
std::optional<HeapPlace> find_place(const StoredFile& file, std::uint64_t header, std::string_view name) {
    struct Chunk {
        std::uint64_t address;
        std::uint64_t size;
    };
    constexpr std::size_t prefix_size = 16;
    const Bytes prefix_bytes = file.read(header, prefix_size);
    Cursor prefix(prefix_bytes);
    if (prefix.number(1) != 1) return std::nullopt;
    prefix.take(7);
    std::vector<Chunk> chunks = {{header + prefix_size, prefix.number(4)}};
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        all += std::min<std::uint64_t>(chunks[i].size, max_header);
        if (all >= max_header) return std::nullopt;
        const Bytes bytes = file.read(chunks[i].address, chunks[i].size);
        for (Cursor messages(bytes); messages.left() > 0;) {
            const std::uint64_t type = messages.number(2);
            const std::uint64_t size = messages.number(2);
            const std::uint64_t flags = messages.number(1);
            messages.take(3);
            Cursor message(messages.take(size));
            if (messages.is_beyond()) return std::nullopt;
            if (type == continuation_message) {
                const std::uint64_t address = message.number(size_of_address);
                chunks.push_back({address, message.number(size_of_length)});
            } else if (type == attribute_message && (flags & is_shared) == 0) {
                if (auto place = place_in(message.take(size), name)) return place;
            }
        }
    }
    return std::nullopt;
}

/// The string in its heap collection; empty optional if it is not there.
std::optional<std::string> text_at(const StoredFile& file, const HeapPlace& place) {
    if (place.length == 0) return "";
    constexpr std::size_t head_size = 16;
    const Bytes head_bytes = file.read(place.collection, head_size);
    Cursor head(head_bytes);
    if (text_of(head.take(4)) != "GCOL" || head.number(1) != 1) return std::nullopt;
    head.take(3);
    const std::uint64_t size = head.number(size_of_length);
    if (head.is_beyond() || size > max_heap) return std::nullopt;
    const Bytes bytes = file.read(place.collection, size);
    Cursor objects(bytes);
    objects.take(head_size);
    while (objects.left() > 0) {
        const std::uint64_t index = objects.number(2);
        objects.take(6);
        const std::uint64_t object_size = objects.number(size_of_length);
        if (index == 0 || object_size > max_heap) break;
        const std::span object = objects.take(whole_words(object_size));
        if (objects.is_beyond()) break;
        if (index != place.index) continue;
        if (place.length > object_size) break;
        return text_of(object.first(static_cast<std::size_t>(place.length)));
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> stored_text(const detail::PosixFile& bytes, hid_t object, const char* name,
                                       std::string_view subject) {
    const FileHandle file(H5Iget_file_id(object));
    const PropertiesHandle creation(H5Fget_create_plist(file));
    hsize_t base = 0;
    std::size_t address_size = 0;
    std::size_t length_size = 0;
    H5O_info_t info{};
    if (H5Pget_userblock(creation, &base) < 0 || H5Pget_sizes(creation, &address_size, &length_size) < 0 ||
        H5Oget_info2(object, &info, H5O_INFO_BASIC) < 0)
        return std::nullopt;
    if (address_size != size_of_address || length_size != size_of_length) return std::nullopt;
    const StoredFile stored(bytes, base);
    const std::optional<HeapPlace> place = find_place(stored, info.addr, name);
    if (!place) return std::nullopt;
    std::optional<std::string> text = text_at(stored, *place);
    if (!text)
        throw file_error(subject, std::string("attribute ") + name +
                                      ": damaged: its text is not in the file, or longer than 16 MiB");
    return text;
}

}  // namespace phy::hdf5
