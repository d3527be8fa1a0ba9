// SPDX-License-Identifier: Apache-2.0
// The API's description as embedded by the build from schema/openapi.json; see
// schema/openapi.cmake.
#ifndef SERVER_OPENAPI_DATA_H
#define SERVER_OPENAPI_DATA_H

#include <stddef.h>

extern const unsigned char openapi_json[];
extern const size_t openapi_size;
extern const char openapi_etag[]; // changes with the content; without quotes

#endif
