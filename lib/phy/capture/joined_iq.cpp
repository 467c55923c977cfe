#include "phy/capture/joined_iq.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "phy/capture/sample_type.hpp"
#include "phy/core/file_error.hpp"

namespace phy::detail {

namespace {

constexpr std::uint64_t block_numbers = std::uint64_t{1} << 18;

/// What both are. Throws unless they are of one.
NumberType require_one_type(const InputDataset& i, const InputDataset& q) {
    const auto& number = i.type().number;
    if (!number || number != q.type().number || i.dimensions() != q.dimensions())
        throw file_error(i.name(), "is " + describe(i.type(), i.dimensions()) + ", and of Q is " +
                                       describe(q.type(), q.dimensions()) +
                                       ": expected numbers of one type and one shape");
    return *number;
}

class JoinedIq : public InputDataset {
public:
    JoinedIq(std::unique_ptr<InputDataset> i, std::unique_ptr<InputDataset> q, NumberType number)
        : InputDataset(i->name() + " and of Q", pair_type(number, "I and Q apart, of " + i->type().text),
                       i->dimensions()),
          i_(std::move(i)),
          q_(std::move(q)) {}

    [[nodiscard]] std::string storage() const override { return "I and Q apart, " + i_->storage(); }

    void require_readable() const override {
        i_->require_readable();
        q_->require_readable();
    }

    void read(std::uint64_t first, std::uint64_t count, std::byte* elements) const override;

    [[nodiscard]] std::vector<std::filesystem::path> other_files() const override {
        std::vector<std::filesystem::path> files = i_->other_files();
        std::ranges::move(q_->other_files(), std::back_inserter(files));
        return files;
    }

    [[nodiscard]] std::optional<double> number(const char* attribute) const override {
        return i_->number(attribute);
    }

    [[nodiscard]] std::optional<std::string> text(const char* attribute) const override {
        return i_->text(attribute);
    }

private:
    std::unique_ptr<InputDataset> i_;
    std::unique_ptr<InputDataset> q_;
};

void JoinedIq::read(std::uint64_t first, std::uint64_t count, std::byte* elements) const {
    const std::size_t bytes = i_->type().bytes;
    const NumberType number = {.kind = i_->type().number->kind};
    std::vector<std::byte> block(std::min(count, block_numbers) * bytes);
    while (count > 0) {
        const std::uint64_t now = std::min(count, block_numbers);
        for (const auto& [part, offset] : {std::pair(i_.get(), std::size_t{0}), {q_.get(), bytes}}) {
            part->read(first, now, block.data());
            copy_numbers(number, {block.data(), bytes}, {elements + offset, 2 * bytes}, now);
        }
        first += now;
        count -= now;
        elements += 2 * now * bytes;
    }
}

}  // namespace

std::unique_ptr<InputDataset> join_iq(std::unique_ptr<InputDataset> i, std::unique_ptr<InputDataset> q) {
    const NumberType number = require_one_type(*i, *q);
    return std::make_unique<JoinedIq>(std::move(i), std::move(q), number);
}

}  // namespace phy::detail
