# Install.cmake - one shared and one static library of all rings, headers, programs, manual pages, pkg-config file.
set(rings "")
foreach(ring base db gate open trusted)
  get_target_property(type tacet_${ring} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    list(APPEND rings tacet_${ring})
  endif()
endforeach()
set(objects "")
foreach(ring ${rings})
  list(APPEND objects -Wl,--whole-archive $<TARGET_FILE:${ring}> -Wl,--no-whole-archive)
endforeach()
file(WRITE ${CMAKE_BINARY_DIR}/empty.c "/* the shared library is made of the rings */\ntypedef int tacet_empty;\n")
add_library(tacet SHARED ${CMAKE_BINARY_DIR}/empty.c)
set_target_properties(tacet PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0)
add_dependencies(tacet ${rings})
target_link_options(tacet PRIVATE ${objects})
target_link_libraries(tacet PRIVATE PkgConfig::openblas PkgConfig::lapacke PkgConfig::nlopt PkgConfig::sodium
  PkgConfig::sqlite PkgConfig::pq PkgConfig::jansson Threads::Threads m tacet_flags)

install(TARGETS tacet LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(ring ${rings})
  install(TARGETS ${ring} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/tacet)
endforeach()
install(TARGETS ${TACET_PROGRAMS} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/tacet DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${CMAKE_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
configure_file(cmake/tacet.pc.in ${CMAKE_BINARY_DIR}/tacet.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tacet.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Manual pages come from the programs themselves: `tacet-gate calibrate --man`.
add_custom_target(man ALL COMMAND ${PROJECT_SOURCE_DIR}/tools/man ${CMAKE_BINARY_DIR} DEPENDS ${TACET_PROGRAMS}
  COMMENT "Manual pages")
