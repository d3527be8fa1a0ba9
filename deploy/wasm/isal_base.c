// SPDX-License-Identifier: Apache-2.0
// The portable variants of what ISA-L's inflate calls. Its igzip_base_aliases.c declares some with
// other types than they have, which a WASM module does not allow.
#include <igzip_lib.h>

uint32_t adler32_base(uint32_t adler32, const unsigned char *start, uint32_t length);
int decode_huffman_code_block_stateless_base(struct inflate_state *state, uint8_t *start_out);

uint32_t isal_adler32(uint32_t adler32, const unsigned char *start, uint64_t length)
{
    return adler32_base(adler32, start, (uint32_t)length);
}

int decode_huffman_code_block_stateless(struct inflate_state *state, uint8_t *start_out)
{
    return decode_huffman_code_block_stateless_base(state, start_out);
}
