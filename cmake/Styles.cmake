# SPDX-License-Identifier: Apache-2.0
# Styles.cmake - writes the style sheets of src/report/style as C arrays (src/report/style.h), without their comments.
# As a script: cmake -D OUT=styles.c -D FILES="a.css;b.css" -P Styles.cmake.
if(CMAKE_SCRIPT_MODE_FILE)
  set(text "/* Made by cmake/Styles.cmake from src/report/style. */\n#include \"report/style.h\"\n\n")
  foreach(file ${FILES})
    get_filename_component(name ${file} NAME_WE)
    file(READ ${file} css)
    string(REGEX REPLACE "/\\*[^*]*\\*/" "" css "${css}")
    string(REGEX REPLACE "[ \n]+" " " css "${css}")
    string(HEX "${css}" hex)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(APPEND text "const char tacet__style_${name}[] = {${bytes}0};\n")
  endforeach()
  file(WRITE ${OUT} "${text}")
  return()
endif()

file(GLOB styles CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/report/style/*.css)
set(TACET_STYLES_DATA ${CMAKE_BINARY_DIR}/pages/styles.c)
add_custom_command(OUTPUT ${TACET_STYLES_DATA}
  COMMAND ${CMAKE_COMMAND} -D OUT=${TACET_STYLES_DATA} -D "FILES=${styles}" -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ${styles} ${CMAKE_CURRENT_LIST_FILE} VERBATIM)
