// SPDX-License-Identifier: Apache-2.0
// libraries.cmake says what Jansson may use.
