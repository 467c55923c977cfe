# Sums by CUB, which is compiled as its users do: the limit of what only reads. For applications and benchmarks, either of
# which may be built without the other.
include_guard(GLOBAL)
add_library(cub_sums OBJECT ${CMAKE_CURRENT_LIST_DIR}/cub_sums.cu)
target_compile_options(cub_sums PRIVATE -std=c++20)
target_include_directories(cub_sums PRIVATE ${CMAKE_CURRENT_LIST_DIR}/..)
target_link_libraries(cub_sums PRIVATE phy::phy)
