# cmake --install: headers, library, find_package(phy) and pkg-config.
include(CMakePackageConfigHelpers)

set(phy_header_sets FILE_SET HEADERS)
if(PHY_HAS_CUDA)
  list(APPEND phy_header_sets FILE_SET cuda_headers)
endif()
install(TARGETS phy EXPORT phy_targets ${phy_header_sets})
set(phy_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/phy)
install(EXPORT phy_targets NAMESPACE phy:: FILE phy-targets.cmake DESTINATION ${phy_package_dir})

# A shared library finds what it needs by itself; who links a static one must name it all.
get_target_property(phy_library_type phy TYPE)
if(phy_library_type STREQUAL "STATIC_LIBRARY")
  set(phy_is_static TRUE)
  set(phy_pc_requires "hdf5 libhwy")
  set(phy_pc_libs "-pthread")
else()
  set(phy_is_static FALSE)
  set(phy_pc_requires "")
  set(phy_pc_libs "")
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/phy-config.cmake.in phy-config.cmake
  INSTALL_DESTINATION ${phy_package_dir} NO_SET_AND_CHECK_MACRO)
# Until 1.0 a minor version may break an interface.
write_basic_package_version_file(phy-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/phy-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/phy-config-version.cmake
  DESTINATION ${phy_package_dir})

# The prefix is known only when installing (cmake --install --prefix), so the .pc file finds it from where it lies.
cmake_path(IS_ABSOLUTE CMAKE_INSTALL_LIBDIR phy_libdir_is_absolute)
if(phy_libdir_is_absolute)
  set(phy_pc_prefix ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH phy_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" phy_pc_prefix "\${pcfiledir}/${phy_pc_prefix}")
endif()
cmake_path(APPEND phy_pc_libdir "\${prefix}" ${CMAKE_INSTALL_LIBDIR})
cmake_path(APPEND phy_pc_includedir "\${prefix}" ${CMAKE_INSTALL_INCLUDEDIR})
configure_file(${CMAKE_CURRENT_LIST_DIR}/phy.pc.in phy.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/phy.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
