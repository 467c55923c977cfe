#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

#include "phy/core/backend.hpp"
#include "phy/core/export.hpp"
#include "phy/core/type_list.hpp"
#include "phy/reduce/reduce_operators.hpp"

/// The reductions that the library contains, for every instruction set and for devices.
namespace phy::detail {

template <class... Lists>
struct Joined;
template <class... Types>
struct Joined<TypeList<Types...>> {
    using List = TypeList<Types...>;
};
template <class... First, class... Second, class... Lists>
struct Joined<TypeList<First...>, TypeList<Second...>, Lists...>
    : Joined<TypeList<First..., Second...>, Lists...> {};

template <template <class...> class Op>
using OfIntegers = TypeList<Op<std::int8_t>, Op<std::int16_t>, Op<std::int32_t>, Op<std::int64_t>,
                            Op<std::uint8_t>, Op<std::uint16_t>, Op<std::uint32_t>, Op<std::uint64_t>>;
template <template <class...> class Op>
using OfNumbers = typename Joined<OfIntegers<Op>, TypeList<Op<float>, Op<double>>>::List;
template <template <class...> class Op>
using OfComplex = TypeList<Op<std::complex<float>>, Op<std::complex<double>>>;

/// Sum with the default total.
template <class T>
using SumOf = Sum<T>;

using BuiltInSums =
    typename Joined<OfNumbers<SumOf>, OfComplex<SumOf>,
                    TypeList<Sum<float, double>, Sum<std::complex<float>, std::complex<double>>>>::List;
using BuiltInMeans = typename Joined<OfNumbers<Mean>, OfComplex<Mean>>::List;
using BuiltInMaxima = OfNumbers<Maximum>;
using BuiltInMinima = OfNumbers<Minimum>;
using BuiltInArgMaxima = OfNumbers<ArgMax>;
using BuiltInReductions =
    typename Joined<BuiltInSums, BuiltInMeans, BuiltInMaxima, BuiltInMinima, BuiltInArgMaxima>::List;

template <class Op>
inline constexpr bool is_built_in = BuiltInReductions::contains<Op>;

/// A function whose real type depends on the operator.
using AnyFunction = void (*)();

/// The BlockRoot of the operator at this index in BuiltInReductions. Throws BackendError for a backend that
/// does not run on this machine.
PHY_EXPORT AnyFunction built_in_block_root(std::size_t index, const Backend& backend);

}  // namespace phy::detail
