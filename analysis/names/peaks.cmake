# SPDX-License-Identifier: Apache-2.0
# Compiles analysis/names/peaks.tsv into a target as analysis/names/peaks.h declares it.

function(embed_peaks target)
  set(file ${CMAKE_SOURCE_DIR}/analysis/names/peaks.tsv)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/peaks_data.c @ONLY CONTENT
    "#include \"analysis/names/peaks.h\"\nstatic const char text[] = {@bytes@0};\nconst struct str peaks_builtin = {text, sizeof text - 1};\n")
  target_sources(${target} PRIVATE ${CMAKE_BINARY_DIR}/peaks_data.c)
endfunction()
