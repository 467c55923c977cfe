#pragma once

#include <algorithm>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "pipeline/fake_stage.hpp"

namespace phy_test {

using Bytes = std::vector<std::byte>;

/// Random records for the input ports of a stage, and the expected output.
class TestStream {
public:
    explicit TestStream(std::size_t items, const StageShape& shape = {})
        : items_(items), inputs_(shape.inputs), outputs_(shape.outputs) {
        std::mt19937 random(20240607);
        for (const phy::Port& port : inputs_) {
            Bytes& bytes = arrays_[port.name];
            bytes.resize(port.bytes_of(items));
            for (std::byte& byte : bytes)
                byte = static_cast<std::byte>(random());
        }
        add_outputs(shape);
    }

    [[nodiscard]] std::size_t items() const { return items_; }
    [[nodiscard]] const std::vector<phy::Port>& inputs() const { return inputs_; }
    [[nodiscard]] const std::vector<phy::Port>& outputs() const { return outputs_; }

    /// The records of an input port, by index.
    [[nodiscard]] std::span<const std::byte> input(std::size_t port = 0) const {
        return arrays_.at(inputs_[port].name);
    }
    [[nodiscard]] std::span<const std::byte> input(std::size_t port, std::uint64_t first,
                                                   std::size_t count) const {
        const phy::Port& of = inputs_[port];
        return input(port).subspan(first / of.items * of.bytes, of.bytes_of(count));
    }

    [[nodiscard]] const Bytes& expected(std::size_t port = 0) const {
        return arrays_.at(outputs_[port].name);
    }

private:
    void add_outputs(const StageShape& shape) {
        Scramble scramble = scramble_of(shape, {.items = items_});
        for (std::size_t i = 0; i < shape.inputs.size(); ++i)
            scramble.in[i] =
                scramble_array(std::as_const(arrays_.at(shape.inputs[i].name)).data(), shape.inputs[i]);
        for (std::size_t i = 0; i < shape.outputs.size(); ++i) {
            Bytes& bytes = arrays_[shape.outputs[i].name];
            bytes.resize(shape.outputs[i].bytes_of(items_));
            scramble.out[i] = scramble_array(bytes.data(), shape.outputs[i]);
        }
        run_scramble(scramble);
    }

    std::size_t items_;
    std::vector<phy::Port> inputs_;
    std::vector<phy::Port> outputs_;
    std::map<std::string, Bytes> arrays_;
};

}  // namespace phy_test
