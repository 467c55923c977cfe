# cmake --install: programs, headers, library, find_package(phy) and pkg-config.
include(CMakePackageConfigHelpers)

set(phy_header_sets FILE_SET HEADERS COMPONENT development)
if(PHY_HAS_CUDA)
  list(APPEND phy_header_sets FILE_SET cuda_headers COMPONENT development)
endif()
install(TARGETS phy EXPORT phy_targets
  RUNTIME COMPONENT development ARCHIVE COMPONENT development
  LIBRARY COMPONENT applications NAMELINK_COMPONENT development
  ${phy_header_sets})
set(phy_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/phy)
install(EXPORT phy_targets NAMESPACE phy:: FILE phy-targets.cmake DESTINATION ${phy_package_dir}
  COMPONENT development)

# A shared library finds what it needs by itself; who links a static one must name it all. An HDF5 other than that of
# the headers that phy was compiled with ends the program that calls it.
get_target_property(phy_library_type phy TYPE)
if(phy_library_type STREQUAL "STATIC_LIBRARY")
  set(phy_is_static TRUE)
  set(phy_pc_requires "hdf5 = ${HDF5_VERSION} libhwy")
  set(phy_pc_libs "-pthread")
  if(PHY_HAS_CUDA)
    string(PREPEND phy_pc_libs "-L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt ")
  endif()
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
  DESTINATION ${phy_package_dir} COMPONENT development)

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
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/phy.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT development)

install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT applications)
install(FILES data/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/data COMPONENT applications)
install(DIRECTORY data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/phy/data COMPONENT applications
  FILES_MATCHING PATTERN "*.h5" PATTERN results EXCLUDE)

# phy_install_programs(FOLDER DESTINATION COMPONENT): the programs that the folder of the source and those below it make.
# A relocatable one looks for bundled libraries in a folder of phy's own, so that nothing else finds them there.
set(phy_bundle_dir ${CMAKE_INSTALL_LIBDIR}/phy)
function(phy_install_programs folder destination component)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE" AND phy_is_relocatable)
      file(RELATIVE_PATH to_bundle /${destination} /${phy_bundle_dir})
      set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${to_bundle}")
      install(TARGETS ${target} RUNTIME_DEPENDENCY_SET phy_bundled_${component}
        RUNTIME DESTINATION ${destination} COMPONENT ${component})
    elseif(type STREQUAL "EXECUTABLE")
      install(TARGETS ${target} RUNTIME DESTINATION ${destination} COMPONENT ${component})
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(subfolder IN LISTS folders)
    phy_install_programs(${subfolder} ${destination} ${component})
  endforeach()
endfunction()

# What programs need beside glibc, which only the machine itself can have.
function(phy_install_bundle component)
  if(phy_is_relocatable)
    install(RUNTIME_DEPENDENCY_SET phy_bundled_${component}
      PRE_EXCLUDE_REGEXES "^lib(c|m|dl|rt|pthread)\\.so" "^ld-linux"
      LIBRARY DESTINATION ${phy_bundle_dir} COMPONENT ${component})
  endif()
endfunction()

if(PHY_APPS)
  phy_install_programs(${PROJECT_SOURCE_DIR}/apps ${CMAKE_INSTALL_BINDIR} applications)
  phy_install_bundle(applications)
endif()
if(PHY_INSTALL_TESTS)
  include(PhyInstallTests)
endif()
