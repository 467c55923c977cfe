# cmake --install: programs, headers, libraries, find_package(phy) and pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(phy_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/phy)
# phy_install_library(TARGET): each in its own export set, so that users of one need no dependency of another.
function(phy_install_library target)
  set(bundled "")
  get_target_property(type ${target} TYPE)
  if(PHY_RELOCATABLE AND type STREQUAL "SHARED_LIBRARY")
    set(bundled RUNTIME_DEPENDENCY_SET phy_bundled_applications)
  endif()
  install(TARGETS ${target} EXPORT ${target}_targets ${bundled}
    RUNTIME COMPONENT development ARCHIVE COMPONENT development
    LIBRARY COMPONENT applications NAMELINK_COMPONENT development
    FILE_SET HEADERS COMPONENT development)
  string(REPLACE "_" "-" file ${target})
  install(EXPORT ${target}_targets NAMESPACE phy:: FILE ${file}-targets.cmake DESTINATION ${phy_package_dir}
    COMPONENT development)
endfunction()

# The prefix is known only at installation (cmake --install --prefix), so a .pc file derives it from its own folder.
cmake_path(IS_ABSOLUTE CMAKE_INSTALL_LIBDIR phy_libdir_is_absolute)
if(phy_libdir_is_absolute)
  set(phy_pc_prefix ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH phy_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" phy_pc_prefix "\${pcfiledir}/${phy_pc_prefix}")
endif()
cmake_path(APPEND phy_pc_libdir "\${prefix}" ${CMAKE_INSTALL_LIBDIR})
cmake_path(APPEND phy_pc_includedir "\${prefix}" ${CMAKE_INSTALL_INCLUDEDIR})

# phy_install_pkg_config(NAME DESCRIPTION REQUIRES LIBS)
function(phy_install_pkg_config phy_pc_name phy_pc_description phy_pc_requires phy_pc_libs)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/phy.pc.in ${phy_pc_name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${phy_pc_name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT development)
endfunction()

# A shared library finds its dependencies; for a static one the .pc file lists them all. Later patch versions of the HDF5
# that phy was compiled with fit. The folder of the CUDA toolkit is that of the user's machine:
# pkg-config --define-variable=cuda_libdir=FOLDER.
if(PHY_CAPTURE)
  string(REGEX MATCH "^([0-9]+)\\.([0-9]+)" phy_hdf5_next "${PHY_HDF5_VERSION}")
  math(EXPR phy_hdf5_next "${CMAKE_MATCH_2} + 1")
  set(phy_hdf5_next ${CMAKE_MATCH_1}.${phy_hdf5_next})
endif()
get_target_property(phy_library_type phy TYPE)
set(phy_is_static FALSE)
set(phy_pc_libs "-lphy")
if(phy_library_type STREQUAL "STATIC_LIBRARY")
  set(phy_is_static TRUE)
  set(phy_pc_requires "libhwy")
  if(PHY_HAS_CUDA)
    set(phy_pc_variables "cuda_libdir=/usr/local/cuda/lib64\n")
    string(APPEND phy_pc_libs " -L\${cuda_libdir} -lcudart_static -ldl -lrt")
  endif()
  string(APPEND phy_pc_libs " -pthread")
endif()

phy_install_library(phy)
phy_install_pkg_config(phy "${PROJECT_DESCRIPTION}" "${phy_pc_requires}" "${phy_pc_libs}")
set(phy_pc_variables "")
if(PHY_CAPTURE)
  get_target_property(phy_capture_type phy_capture TYPE)
  set(phy_capture_is_static FALSE)
  if(phy_capture_type STREQUAL "STATIC_LIBRARY")
    set(phy_capture_is_static TRUE)
    set(phy_capture_pc_requires ", hdf5 >= ${PHY_HDF5_VERSION}, hdf5 < ${phy_hdf5_next}")
  endif()
  phy_install_library(phy_capture)
  phy_install_library(phy_files)
  phy_install_pkg_config(phy-capture "IQ captures and soft bits in HDF5 for phy"
    "phy = ${PROJECT_VERSION}${phy_capture_pc_requires}" "-lphy_capture")
  phy_install_pkg_config(phy-files "Demodulation and measurement of captures with phy" "phy-capture = ${PROJECT_VERSION}"
    "-lphy_files")
endif()

# A package that runs in any folder has no MPI, of which each site has its own.
if(PHY_MPI AND NOT PHY_RELOCATABLE)
  phy_install_library(phy_mpi)
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/phy-config.cmake.in phy-config.cmake
  INSTALL_DESTINATION ${phy_package_dir} NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may break interfaces.
write_basic_package_version_file(phy-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/phy-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/phy-config-version.cmake
  DESTINATION ${phy_package_dir} COMPONENT development)

# The pages, with all files that they link to.
install(FILES README.md CHANGELOG.md CITATION.cff CONTRIBUTING.md LICENSE SECURITY.md debian/copyright
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT applications)
file(GLOB phy_pages CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/docs/*.md
  ${PROJECT_SOURCE_DIR}/docs/developer/*.md ${PROJECT_SOURCE_DIR}/docs/images/*.png
  ${PROJECT_SOURCE_DIR}/data/results/*.md)
foreach(page IN LISTS phy_pages ITEMS data/README.md data/pusch.json)
  cmake_path(GET page PARENT_PATH folder)
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder} COMPONENT applications)
endforeach()
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT applications FILES_MATCHING PATTERN "*.cpp"
  PATTERN Makefile REGEX "/cmake/CMakeLists\\.txt$")
install(DIRECTORY data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/phy/data COMPONENT applications
  FILES_MATCHING PATTERN "*.h5" PATTERN "p?sch.json" PATTERN results EXCLUDE)
install(FILES tools/capture_file.py tools/plot_capture.py tools/plot_link.py tools/plot_trace.py tools/plotting.py tools/recording_axes.py
  tools/symbol_axes.py DESTINATION ${CMAKE_INSTALL_DATADIR}/phy/tools COMPONENT applications)

# phy_install_programs(FOLDER DESTINATION COMPONENT): the programs of a source folder and the folders below it, but for
# those with the property PHY_NOT_INSTALLED.
# Relocatable programs use bundled libraries in phy's own folder, where no other program finds them.
set(phy_bundle_dir ${CMAKE_INSTALL_LIBDIR}/phy)
function(phy_install_programs folder destination component)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    get_target_property(not_installed ${target} PHY_NOT_INSTALLED)
    if(not_installed)
      continue()
    elseif(type STREQUAL "EXECUTABLE" AND PHY_RELOCATABLE)
      file(RELATIVE_PATH to_libraries /${destination} /${CMAKE_INSTALL_LIBDIR})
      set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libraries};$ORIGIN/${to_libraries}/phy")
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

# The shared libraries that programs need, except glibc, which must be the machine's own.
function(phy_install_bundle component)
  if(PHY_RELOCATABLE)
    install(RUNTIME_DEPENDENCY_SET phy_bundled_${component}
      PRE_EXCLUDE_REGEXES "^lib(c|m|dl|rt|pthread)\\.so" "^ld-linux"
      LIBRARY DESTINATION ${phy_bundle_dir} COMPONENT ${component})
  endif()
endfunction()

if(PHY_APPS)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/manuals/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT applications OPTIONAL)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/manuals/completions DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion
    COMPONENT applications OPTIONAL)
  phy_install_programs(${PROJECT_SOURCE_DIR}/apps ${CMAKE_INSTALL_BINDIR} applications)
endif()
if(PHY_APPS OR BUILD_SHARED_LIBS)
  phy_install_bundle(applications)
endif()
if(PHY_INSTALL_TESTS)
  include(PhyInstallTests)
endif()

# What is linked statically or compiled in has a licence too.
if(PHY_RELOCATABLE)
  list(FILTER phy_static_hdf5 INCLUDE REGEX "\\.a$")
  find_file(PHY_JSON_HEADER nlohmann/json.hpp)
  mark_as_advanced(PHY_JSON_HEADER)
  if(PHY_INSTALL_TESTS)
    find_library(PHY_GTEST gtest)
    mark_as_advanced(PHY_GTEST)
  endif()
  set(phy_linked_cuda "")
  if(PHY_HAS_CUDA)
    set(phy_linked_cuda ${CUDAToolkit_BIN_DIR}/..)
  endif()
  set(phy_linked ${phy_static_hdf5} ${PHY_JSON_HEADER} ${PHY_GTEST})
  install(CODE "
    set(FOLDER \"${CMAKE_INSTALL_DOCDIR}/licences\")
    set(BUNDLE \"${phy_bundle_dir}\")
    foreach(place FOLDER BUNDLE)
      cmake_path(ABSOLUTE_PATH \${place} BASE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}\")
      set(\${place} \"\$ENV{DESTDIR}\${\${place}}\")
    endforeach()
    set(LINKED \"${phy_linked}\")
    set(ARCHITECTURE \"${CMAKE_LIBRARY_ARCHITECTURE}\")
    set(CUDA \"${phy_linked_cuda}\")
    include(\"${CMAKE_CURRENT_LIST_DIR}/PhyLicences.cmake\")" COMPONENT applications)
endif()
