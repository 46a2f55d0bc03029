# SPDX-License-Identifier: Apache-2.0
# Install.cmake - the three libraries, headers, programs, manual pages, pkg-config files, the CMake package.
#
# There are three parties, and so three libraries: libtacet (open: nothing of the gate or of trusted code, no PostgreSQL),
# libtacet-trusted (everything of libtacet, the gate and the trusted code: whoever holds records links it alone), and
# libtacet-device (made in src/CMakeLists.txt). docs/packages.md has the rule for TACET_SOVERSION.
function(tacet_library name output)
  cmake_parse_arguments(L "" "" "RINGS;LIBS" ${ARGN})
  set(objects "")
  foreach(ring ${L_RINGS})
    list(APPEND objects $<TARGET_OBJECTS:tacet_${ring}>)
  endforeach()
  foreach(kind SHARED STATIC)
    string(TOLOWER ${kind} suffix)
    add_library(${name}_${suffix} ${kind} ${objects})
    set_target_properties(${name}_${suffix} PROPERTIES OUTPUT_NAME ${output} VERSION ${PROJECT_VERSION}
      SOVERSION ${TACET_SOVERSION})
    install(TARGETS ${name}_${suffix} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
      ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endforeach()
  target_link_options(${name}_shared PRIVATE LINKER:--as-needed LINKER:--no-undefined)
  target_link_libraries(${name}_shared PRIVATE ${L_LIBS} PkgConfig::openblas PkgConfig::lapacke PkgConfig::nlopt
    PkgConfig::sodium PkgConfig::sqlite PkgConfig::jansson PkgConfig::mhd PkgConfig::gnutls PkgConfig::curl
    Threads::Threads m tacet_flags)
endfunction()
tacet_library(tacet_open_library tacet RINGS core io http shared open)
tacet_library(tacet_trusted_library tacet-trusted RINGS core io postgres http pages shared open service gate trusted
  served audit LIBS PkgConfig::pq)

install(TARGETS ${TACET_PROGRAMS} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/tacet DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${CMAKE_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
# The units as packaging/ has them, but for where the programs are.
foreach(unit tacet-server tacet-collector)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/packaging/${unit}.service)
  file(READ packaging/${unit}.service text)
  string(REPLACE "ExecStart=/usr/bin/" "ExecStart=${CMAKE_INSTALL_FULL_BINDIR}/" text "${text}")
  file(WRITE ${CMAKE_BINARY_DIR}/${unit}.service "${text}")
  install(FILES ${CMAKE_BINARY_DIR}/${unit}.service DESTINATION lib/systemd/system)
endforeach()
# Relative to the file itself, so that the folder may be moved or staged.
file(RELATIVE_PATH TACET_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
foreach(library tacet tacet-trusted tacet-device)
  configure_file(cmake/${library}.pc.in ${CMAKE_BINARY_DIR}/${library}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# find_package(tacet COMPONENTS open trusted device): the targets tacet::open, tacet::trusted, tacet::device.
include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/tacet-config.cmake.in ${CMAKE_BINARY_DIR}/tacet-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tacet PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tacet-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/tacet-config.cmake ${CMAKE_BINARY_DIR}/tacet-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tacet)

# What `make demo` builds: no tests, no fuzzers, no benchmarks, no shared libraries.
add_custom_target(programs DEPENDS ${TACET_PROGRAMS})

# Manual pages come from the programs themselves: `tacet-gate calibrate --man`.
add_custom_target(man ALL COMMAND ${PROJECT_SOURCE_DIR}/tools/man ${CMAKE_BINARY_DIR} DEPENDS ${TACET_PROGRAMS}
  COMMENT "Manual pages")
# What shells complete, from the same tables.
add_custom_target(completion ALL COMMAND ${PROJECT_SOURCE_DIR}/tools/completion ${CMAKE_BINARY_DIR} DEPENDS ${TACET_PROGRAMS}
  COMMENT "Completion")
install(FILES ${CMAKE_BINARY_DIR}/completion/tacet.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME tacet)
install(FILES ${CMAKE_BINARY_DIR}/completion/tacet.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions
  RENAME _tacet)
install(FILES ${CMAKE_BINARY_DIR}/completion/tacet.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
