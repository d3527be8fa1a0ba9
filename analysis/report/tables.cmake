# SPDX-License-Identifier: Apache-2.0
# Writes the columns of FOLDER/*.tables as enums and descriptors: see analysis/report/README.md.

find_program(AWK awk REQUIRED)

# Into a target; HEADER is what includes it, NUMBER that of its first table.
function(add_tables target folder header number)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.tables)
  set(script ${CMAKE_SOURCE_DIR}/analysis/report/tables.awk)
  set(root ${CMAKE_BINARY_DIR}/generated)
  string(REGEX REPLACE "\\.h$" ".c" source ${header})
  string(TOUPPER ${header} guard)
  string(MAKE_C_IDENTIFIER ${guard} guard)
  get_filename_component(place ${root}/${header} DIRECTORY)
  file(MAKE_DIRECTORY ${place})
  # Other help texts leave the header, and so all that includes it, as it was.
  add_custom_command(
    OUTPUT ${root}/${header} ${root}/${source}
    COMMAND ${AWK} -v header=${root}/${header}.new -v source=${root}/${source} -v guard=${guard}
            -v include=${header} -v number=${number} -f ${script} ${files}
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${root}/${header}.new ${root}/${header}
    DEPENDS ${script} ${files}
    VERBATIM)
  target_sources(${target} PRIVATE ${root}/${header} ${root}/${source})
  target_include_directories(${target} PUBLIC ${root})
endfunction()
