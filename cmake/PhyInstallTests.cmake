# With PHY_INSTALL_TESTS: the test programs, the benchmarks, and a script that runs the tests without CMake.
set(phy_libexec_dir ${CMAKE_INSTALL_LIBEXECDIR}/phy)
get_property(phy_test_folders DIRECTORY ${PROJECT_SOURCE_DIR}/tests PROPERTY SUBDIRECTORIES)
foreach(folder IN LISTS phy_test_folders)
  if(folder STREQUAL "${PROJECT_SOURCE_DIR}/tests/bench")
    phy_install_programs(${folder} ${phy_libexec_dir}/bench tests)
  else()
    phy_install_programs(${folder} ${phy_libexec_dir}/tests tests)
  endif()
endforeach()
if(PHY_APPS)
  phy_install_programs(${PROJECT_SOURCE_DIR}/examples ${phy_libexec_dir}/examples tests)
endif()
phy_install_bundle(tests)
# Preloaded into programs that a test gives faults.
install(TARGETS phy_faults LIBRARY DESTINATION ${phy_libexec_dir}/tests COMPONENT tests)

file(RELATIVE_PATH phy_bin_from_libexec /${phy_libexec_dir} /${CMAKE_INSTALL_BINDIR})
file(RELATIVE_PATH phy_data_from_libexec /${phy_libexec_dir} /${CMAKE_INSTALL_DATADIR}/phy/data)
file(RELATIVE_PATH phy_docs_from_libexec /${phy_libexec_dir} /${CMAKE_INSTALL_DOCDIR}/docs)
configure_file(${CMAKE_CURRENT_LIST_DIR}/run_tests.sh.in run_tests.sh @ONLY)
install(PROGRAMS ${CMAKE_CURRENT_BINARY_DIR}/run_tests.sh DESTINATION ${phy_libexec_dir} COMPONENT tests)
install(FILES tests/capture/interop.py tests/digests/digests.txt tests/receiver/receive_vectors.py
  tools/capture_file.py tools/plot_capture.py tools/plot_link.py tools/plot_trace.py tools/plotting.py tools/recording_axes.py tools/symbol_axes.py
  DESTINATION ${phy_libexec_dir}/tests COMPONENT tests)
install(DIRECTORY tests/vectors DESTINATION ${phy_libexec_dir}/tests COMPONENT tests FILES_MATCHING PATTERN "*.npz")
install(FILES tests/fuzz/make_seeds.py DESTINATION ${phy_libexec_dir}/tests/fuzz COMPONENT tests)
install(DIRECTORY tests/fuzz/found DESTINATION ${phy_libexec_dir}/tests/fuzz COMPONENT tests OPTIONAL)
