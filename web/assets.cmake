# SPDX-License-Identifier: Apache-2.0
# embed_assets(target): fetches the locked libraries, packs web/ into few files, and compiles them
# into the target.

set(WEB_DIR ${CMAKE_CURRENT_LIST_DIR})
set(VENDOR_LICENSES vendor/LICENSE.preact vendor/LICENSE.htm)

add_custom_command(
  OUTPUT ${WEB_DIR}/vendor/MANIFEST
  COMMAND ${WEB_DIR}/vendor.sh
  DEPENDS ${WEB_DIR}/package-lock.json ${WEB_DIR}/vendor.sh
  COMMENT "Copying the dashboard's libraries (npm ci)"
  VERBATIM)

function(embed_assets target)
  file(GLOB_RECURSE paths RELATIVE ${WEB_DIR} CONFIGURE_DEPENDS
    ${WEB_DIR}/*.html ${WEB_DIR}/*.js ${WEB_DIR}/*.mjs ${WEB_DIR}/*.css ${WEB_DIR}/*.svg
    ${WEB_DIR}/*.py ${WEB_DIR}/*.ipynb ${WEB_DIR}/client/*.md ${WEB_DIR}/*.txt)
  list(FILTER paths EXCLUDE REGEX "^(node_modules|vendor|\\.vendor)|\\.test\\.m?js$")
  list(TRANSFORM paths PREPEND ${WEB_DIR}/ OUTPUT_VARIABLE sources)
  set(packed ${CMAKE_BINARY_DIR}/web)
  set(generated ${CMAKE_BINARY_DIR}/assets_data.c)
  add_custom_command(
    OUTPUT ${generated}
    COMMAND ${WEB_DIR}/bundle.sh ${packed} ${WEB_DIR} ${paths} ${VENDOR_LICENSES}
    COMMAND ${WEB_DIR}/embed.sh ${generated} ${packed}
    DEPENDS ${sources} ${WEB_DIR}/vendor/MANIFEST ${WEB_DIR}/../GLOSSARY.md ${WEB_DIR}/bundle.sh ${WEB_DIR}/embed.sh
    COMMENT "Embedding the dashboard"
    VERBATIM)
  target_sources(${target} PRIVATE ${generated})
endfunction()
