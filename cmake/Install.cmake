# Install.cmake - one shared and one static library of all rings, headers, programs, manual pages, pkg-config file.
set(rings "")
foreach(ring core io shared gate open trusted audit)
  get_target_property(type tacet_${ring} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    list(APPEND rings tacet_${ring})
  endif()
endforeach()
file(WRITE ${CMAKE_BINARY_DIR}/empty.c "/* the shared library is made of the rings */\ntypedef int tacet_empty;\n")
add_library(tacet SHARED ${CMAKE_BINARY_DIR}/empty.c)
# Every object of every ring goes in, also where nothing refers to it yet. One option for all of them: repeated options
# would be merged, and all archives but the first linked as usual.
set(archives "")
foreach(ring ${rings})
  list(APPEND archives $<TARGET_FILE:${ring}>)
endforeach()
list(JOIN archives "," listed)
set_target_properties(tacet PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0 LINK_DEPENDS "${archives}")
add_dependencies(tacet ${rings})
target_link_options(tacet PRIVATE "LINKER:--whole-archive,${listed},--no-whole-archive")
target_link_libraries(tacet PRIVATE PkgConfig::openblas PkgConfig::lapacke PkgConfig::nlopt PkgConfig::sodium
  PkgConfig::sqlite PkgConfig::pq PkgConfig::jansson Threads::Threads m tacet_flags)

install(TARGETS tacet LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(ring ${rings})
  install(TARGETS ${ring} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/tacet)
endforeach()
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
foreach(library tacet tacet-device)
  configure_file(cmake/${library}.pc.in ${CMAKE_BINARY_DIR}/${library}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/${library}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# Manual pages come from the programs themselves: `tacet-gate calibrate --man`.
add_custom_target(man ALL COMMAND ${PROJECT_SOURCE_DIR}/tools/man ${CMAKE_BINARY_DIR} DEPENDS ${TACET_PROGRAMS}
  COMMENT "Manual pages")
