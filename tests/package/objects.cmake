# What shared libraries would show of the objects in a static one, such as those with CUDA, which take minutes to
# compile. What is not in phy:: is hidden when a shared library is linked.
include(${CMAKE_CURRENT_LIST_DIR}/symbols.cmake)
get_filename_component(library ${LIBRARY} NAME)
execute_process(COMMAND readelf --wide --symbols --demangle ${LIBRARY} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE ";" "," symbols "${symbols}")
string(REGEX MATCHALL "(GLOBAL|WEAK|UNIQUE) +DEFAULT +[0-9]+ (${thrown})?phy::[^\n]+" symbols "${symbols}")
list(TRANSFORM symbols REPLACE "^[A-Z]+ +DEFAULT +[0-9]+ " "")
list(REMOVE_DUPLICATES symbols)
foreach(symbol IN LISTS symbols)
  check_symbol(${library} "${symbol}")
endforeach()
check_count(${library} "${symbols}")
