# SPDX-License-Identifier: Apache-2.0
# Compiles schema/openapi.json, without its indentation, into a target as server/api/openapi_data.h
# declares it.

function(embed_openapi target)
  set(file ${CMAKE_SOURCE_DIR}/schema/openapi.json)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} hex HEX)
  file(SHA256 ${file} hash)
  string(SUBSTRING ${hash} 0 24 etag)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "0x0a,(0x20,)*" "" bytes "${bytes}")
  string(REGEX REPLACE "((0x..,){24})" "\\1\n" bytes "${bytes}")
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/openapi_data.c @ONLY CONTENT
    "#include \"server/api/openapi_data.h\"\nconst unsigned char openapi_json[] = {\n@bytes@};\nconst size_t openapi_size = sizeof(openapi_json);\nconst char openapi_etag[] = \"@etag@\";\n")
  target_sources(${target} PRIVATE ${CMAKE_BINARY_DIR}/openapi_data.c)
endfunction()
