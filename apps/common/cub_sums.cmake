# Sums by CUB: the limit of work that only reads. Used by applications and benchmarks, which can be built without each
# other.
include_guard(GLOBAL)
add_library(cub_sums OBJECT ${CMAKE_CURRENT_LIST_DIR}/cub_sums.cu)
target_compile_options(cub_sums PRIVATE -std=c++20)
target_include_directories(cub_sums PRIVATE ${CMAKE_CURRENT_LIST_DIR}/..)
target_link_libraries(cub_sums PRIVATE phy::phy)
