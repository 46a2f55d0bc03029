# SPDX-License-Identifier: Apache-2.0
# Pages.cmake - bundles web/ with Debian's esbuild and writes the result as one C array (src/pages/assets.h).
# As a script: cmake -D OUT=assets_data.c -D FILES="a;b" -P Pages.cmake. Without esbuild the array is empty, and says so.
if(CMAKE_SCRIPT_MODE_FILE)
  set(text "/* Made by cmake/Pages.cmake from web/. */\n#include \"pages/assets.h\"\n\n")
  set(table "")
  set(number 0)
  foreach(file ${FILES})
    get_filename_component(name ${file} NAME)
    execute_process(COMMAND gzip -9 -n -c ${file} OUTPUT_FILE ${file}.gz RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR "gzip cannot pack ${file}")
    endif()
    foreach(kind plain packed)
      set(from ${file})
      if(kind STREQUAL "packed")
        set(from ${file}.gz)
      endif()
      file(READ ${from} hex HEX)
      string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
      string(APPEND text "static const unsigned char ${kind}_${number}[] = {${bytes}};\n")
    endforeach()
    string(APPEND table "    {\"${name}\", plain_${number}, packed_${number}, sizeof plain_${number}, sizeof packed_${number}},\n")
    math(EXPR number "${number} + 1")
  endforeach()
  file(WRITE ${OUT} "${text}\nconst tacet__asset tacet__assets[] = {\n${table}    {0, 0, 0, 0, 0},\n};\n")
  return()
endif()

find_program(ESBUILD esbuild)
set(web ${PROJECT_SOURCE_DIR}/web)
set(pages ${CMAKE_BINARY_DIR}/pages)
set(files "")
if(ESBUILD)
  file(GLOB sources CONFIGURE_DEPENDS ${web}/src/*.ts)
  add_custom_command(OUTPUT ${pages}/app.js
    COMMAND ${ESBUILD} ${web}/src/main.ts --bundle --minify --target=es2020 --format=iife --charset=utf8 --log-level=warning --outfile=${pages}/app.js
    DEPENDS ${sources} COMMENT "Bundling the pages" VERBATIM)
  add_custom_command(OUTPUT ${pages}/app.css
    COMMAND ${ESBUILD} ${web}/app.css --bundle --minify --log-level=warning --outfile=${pages}/app.css
    DEPENDS ${web}/app.css ${PROJECT_SOURCE_DIR}/src/report/style/look.css ${PROJECT_SOURCE_DIR}/src/report/style/label.css VERBATIM)
  foreach(name board.html desk.html icon.svg)
    add_custom_command(OUTPUT ${pages}/${name} COMMAND ${CMAKE_COMMAND} -E copy ${web}/${name} ${pages}/${name} DEPENDS ${web}/${name} VERBATIM)
  endforeach()
  set(files ${pages}/app.js ${pages}/app.css ${pages}/board.html ${pages}/desk.html ${pages}/icon.svg)
else()
  message(STATUS "esbuild is not there: the programs are built without their pages (tools/setup installs it)")
endif()
add_custom_command(OUTPUT ${pages}/assets_data.c
  COMMAND ${CMAKE_COMMAND} -D OUT=${pages}/assets_data.c -D "FILES=${files}" -P ${CMAKE_CURRENT_LIST_DIR}/Pages.cmake
  DEPENDS ${files} ${CMAKE_CURRENT_LIST_FILE} VERBATIM)
set(TACET_PAGES_DATA ${pages}/assets_data.c)
