/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AES by planes (aes.h): SubBytes is an inversion in GF(2^8), computed for all bytes at once by AND
 * and XOR of planes. The inversion is done in a field of pairs over GF(2^4) (Satoh et al., "A
 * Compact Rijndael Hardware Architecture with S-Box Optimization", 2001): with t^4 = t + 1 and y^2
 * = y + t^3 + t, an element is h y + l, and its inverse (h y + h + l) / (h^2 (t^3 + t) + h l +
 * l^2). The element t is 0xe1 in AES's representation, and y is 0x42.
 */
#include "aes.h"
#include "lib.h"

#define PLANE UINT64_C(0xffff)
#define EACH(bits) ((bits) * UINT64_C(0x0001000100010001)) /* the same 16 bits in each plane */

/* Planes in variables of their own; bits above 15 are of no meaning. */
struct bits {
    uint64_t b[8];
};

/* Elements of GF(2^4): coefficients of 1, t, t^2, t^3. */
struct quad {
    uint64_t b[4];
};

/* --- SubBytes --- */

static inline struct quad multiply(struct quad x, struct quad y)
{
    const uint64_t *a = x.b, *b = y.b;
    uint64_t t4 = (a[1] & b[3]) ^ (a[2] & b[2]) ^ (a[3] & b[1]), t5 = (a[2] & b[3]) ^ (a[3] & b[2]),
             t6 = a[3] & b[3];

    return (struct quad){{(a[0] & b[0]) ^ t4, (a[0] & b[1]) ^ (a[1] & b[0]) ^ t4 ^ t5,
                          (a[0] & b[2]) ^ (a[1] & b[1]) ^ (a[2] & b[0]) ^ t5 ^ t6,
                          (a[0] & b[3]) ^ (a[1] & b[2]) ^ (a[2] & b[1]) ^ (a[3] & b[0]) ^ t6}};
}

static inline struct quad add(struct quad x, struct quad y)
{
    return (struct quad){{x.b[0] ^ y.b[0], x.b[1] ^ y.b[1], x.b[2] ^ y.b[2], x.b[3] ^ y.b[3]}};
}

/* h^2 (t^3 + t) + l^2 */
static inline struct quad squares(struct quad high, struct quad low)
{
    const uint64_t *h = high.b, *l = low.b;
    uint64_t h01 = h[0] ^ h[1], h12 = h[1] ^ h[2];

    return (struct quad){
        {h[2] ^ h[3] ^ l[0] ^ l[2], h01 ^ l[2], h12 ^ l[1] ^ l[3], h[0] ^ h12 ^ l[3]}};
}

/* The inverse of an element; 0 of 0. */
static inline struct quad inverse(struct quad x)
{
    uint64_t a = x.b[0], b = x.b[1], c = x.b[2], d = x.b[3];
    uint64_t ab = a & b, ac = a & c, bc = b & c, ad = a & d, bd = b & d, cd = c & d, bcd = bc & d;

    return (struct quad){{a ^ b ^ c ^ d ^ ac ^ bc ^ (ab & c) ^ bcd,
                          d ^ ab ^ ac ^ bc ^ bd ^ (ab & d), c ^ d ^ ab ^ ac ^ ad ^ (ac & d),
                          b ^ c ^ d ^ ad ^ bd ^ cd ^ bcd}};
}

/* The inverse of h y + l; l is in planes 0 to 3, h in 4 to 7. */
static inline struct bits __attribute__((always_inline)) invert(struct bits x)
{
    struct quad l = {{x.b[0], x.b[1], x.b[2], x.b[3]}}, h = {{x.b[4], x.b[5], x.b[6], x.b[7]}};
    struct quad d = inverse(add(squares(h, l), multiply(h, l)));
    struct quad low = multiply(add(h, l), d), high = multiply(h, d);

    return (struct bits){
        {low.b[0], low.b[1], low.b[2], low.b[3], high.b[0], high.b[1], high.b[2], high.b[3]}};
}

/* From AES's representation of GF(2^8) to that of pairs. */
static inline struct bits to_pairs(struct bits in)
{
    const uint64_t *x = in.b;
    uint64_t p57 = x[5] ^ x[7], p67 = x[6] ^ x[7], p23 = x[2] ^ x[3], p167 = x[1] ^ p67;

    return (struct bits){{x[0] ^ x[5], x[5] ^ p23, p167, x[3] ^ p167, x[4] ^ p67 ^ p23, p57 ^ p23,
                          x[1] ^ x[4] ^ x[5] ^ x[6], p57}};
}

/* Back, and the affine transformation of SubBytes. */
static inline struct bits from_pairs_affine(struct bits in)
{
    const uint64_t *x = in.b;
    uint64_t p12 = x[1] ^ x[2], p47 = x[4] ^ x[7], p457 = x[5] ^ p47, p0457 = x[0] ^ p457;

    return (struct bits){{~p0457, ~(x[0] ^ x[2]), x[0] ^ x[1] ^ x[3], x[0] ^ x[4] ^ x[6],
                          p12 ^ p0457, ~(p12 ^ p457), ~p47, x[3] ^ x[4] ^ p12}};
}

/* The inverse of the affine transformation, and from AES's representation to that of pairs. */
static inline struct bits to_pairs_affine(struct bits in)
{
    const uint64_t *x = in.b;
    uint64_t p45 = x[4] ^ x[5], p12 = x[1] ^ x[2], p127 = x[7] ^ p12;

    return (struct bits){{~p45, ~(x[0] ^ x[1] ^ x[5]), x[1] ^ p45, x[0] ^ x[4] ^ p12, ~p127,
                          ~(x[0] ^ x[6] ^ p45), x[3] ^ p45 ^ p127, x[6] ^ p127}};
}

/* From pairs to AES's representation. */
static inline struct bits from_pairs(struct bits in)
{
    const uint64_t *x = in.b;
    uint64_t p15 = x[1] ^ x[5], p157 = x[7] ^ p15, p23 = x[2] ^ x[3], p26 = x[2] ^ x[6];

    return (struct bits){{x[0] ^ p157, x[4] ^ x[5] ^ x[6], x[5] ^ x[7] ^ p23, p23, x[7] ^ p26, p157,
                          x[1] ^ x[4] ^ p26, p15}};
}

static inline struct bits unpack(struct aes_planes p)
{
    return (struct bits){{p.low, p.low >> 16, p.low >> 32, p.low >> 48, p.high, p.high >> 16,
                          p.high >> 32, p.high >> 48}};
}

static inline uint64_t pack_half(const uint64_t *b)
{
    return (b[0] & PLANE) | (b[1] & PLANE) << 16 | (b[2] & PLANE) << 32 | b[3] << 48;
}

static inline struct aes_planes pack(struct bits x)
{
    return (struct aes_planes){pack_half(x.b), pack_half(x.b + 4)};
}

static inline struct aes_planes sub_bytes(struct aes_planes p)
{
    return pack(from_pairs_affine(invert(to_pairs(unpack(p)))));
}

static inline struct aes_planes inv_sub_bytes(struct aes_planes p)
{
    return pack(from_pairs(invert(to_pairs_affine(unpack(p)))));
}

/* --- ShiftRows, MixColumns: byte i is in row i % 4, column i / 4 --- */

/* Rotates rows 1 and 3 by `by` columns, and then rows 2 and 3 by two columns. */
static inline uint64_t rotate_rows(uint64_t x, unsigned by)
{
    unsigned right = 4U * by, left = 16U - right;
    uint64_t odd = x & EACH(0xaaaa), t;

    x = (x & EACH(0x5555)) | (odd >> right & EACH(0xffffU >> right)) |
        (odd << left & EACH(0xffffU << left & 0xffffU));
    t = (x ^ x >> 8) & EACH(0x00cc);
    return x ^ t ^ t << 8;
}

static inline struct aes_planes add_planes(struct aes_planes x, struct aes_planes y)
{
    return (struct aes_planes){x.low ^ y.low, x.high ^ y.high};
}

/* Each byte becomes the one of the next row, or of the one after that. */
static inline uint64_t next_row(uint64_t x)
{
    return (x >> 1 & EACH(0x7777)) | (x << 3 & EACH(0x8888));
}

static inline uint64_t second_row(uint64_t x)
{
    return (x >> 2 & EACH(0x3333)) | (x << 2 & EACH(0xcccc));
}

/* Multiplies each byte by x: modulo x^8 + x^4 + x^3 + x + 1. */
static inline struct aes_planes times_x(struct aes_planes p)
{
    uint64_t top = p.high >> 48;

    return (struct aes_planes){p.low << 16 ^ top ^ top << 16 ^ top << 48,
                               p.high << 16 ^ p.low >> 48 ^ top};
}

static inline struct aes_planes mix_columns(struct aes_planes p)
{
    struct aes_planes next = {next_row(p.low), next_row(p.high)}, sum = add_planes(p, next);
    struct aes_planes second = {second_row(sum.low), second_row(sum.high)};

    return add_planes(times_x(sum), add_planes(next, second));
}

/* MixColumns' matrix, multiplied by one that adds 4 times the sum of a row and the second one after
 * it, is the inverse one. */
static inline struct aes_planes inv_mix_columns(struct aes_planes p)
{
    struct aes_planes sum = {p.low ^ second_row(p.low), p.high ^ second_row(p.high)};

    return mix_columns(add_planes(p, times_x(times_x(sum))));
}

/* --- bytes to planes and back --- */

/* Exchanges bit i of byte n and bit n of byte i. */
static inline uint64_t transpose(uint64_t x)
{
    uint64_t t = (x ^ x >> 7) & UINT64_C(0x00aa00aa00aa00aa);

    x ^= t ^ t << 7;
    t = (x ^ x >> 14) & UINT64_C(0x0000cccc0000cccc);
    x ^= t ^ t << 14;
    t = (x ^ x >> 28) & UINT64_C(0x00000000f0f0f0f0);
    return x ^ t ^ t << 28;
}

/* The lower 4 bytes, each in 16 bits. */
static inline uint64_t spread(uint64_t x)
{
    x = ((x & UINT32_MAX) | x << 16) & UINT64_C(0x0000ffff0000ffff);
    return (x | x << 8) & EACH(0x00ff);
}

static inline uint64_t gather(uint64_t x)
{
    x &= EACH(0x00ff);
    x = (x | x >> 8) & UINT64_C(0x0000ffff0000ffff);
    return (x | x >> 16) & UINT32_MAX;
}

static struct aes_planes to_planes(uint64_t first, uint64_t second)
{
    uint64_t a = transpose(first), b = transpose(second);

    return (struct aes_planes){spread(a) | spread(b) << 8, spread(a >> 32) | spread(b >> 32) << 8};
}

static void from_planes(struct aes_planes p, uint64_t block[2])
{
    block[0] = transpose(gather(p.low) | gather(p.high) << 32);
    block[1] = transpose(gather(p.low >> 8) | gather(p.high >> 8) << 32);
}

/* --- the key (FIPS 197, section 5.2) --- */

void aes_set_key(struct aes_key *key, const uint8_t *bytes, unsigned size)
{
    key->words = size / 4U;
    key->rounds = key->words + 6U;
    key->expanded = 0;
    key->constant = 1;
    memcpy(key->round.words, bytes, size);
}

static uint32_t sub_word(uint32_t word)
{
    uint64_t block[2];

    from_planes(sub_bytes(to_planes(word, 0)), block);
    return (uint32_t)block[0];
}

static void expand_word(struct aes_key *key, unsigned i)
{
    uint32_t *w = key->round.words, word = w[i - 1U];

    if (i % key->words == 0) {
        word = sub_word(word >> 8 | word << 24) ^ key->constant;
        key->constant = key->constant << 1 ^ (key->constant >> 7) * 0x11bU;
    } else if (key->words > 6U && i % key->words == 4U) {
        word = sub_word(word);
    }
    w[i] = w[i - key->words] ^ word;
}

/* Step r makes the key of round r, and the planes of that two rounds before: later words are not
 * computed from it. */
void aes_expand(struct aes_key *key)
{
    unsigned r = key->expanded;

    if (aes_expanded(key)) {
        return;
    }
    for (unsigned i = 4U * r; i < 4U * r + 4U && r <= key->rounds; i++) {
        if (i >= key->words) {
            expand_word(key, i);
        }
    }
    if (r >= 2U) {
        const uint32_t *w = &key->round.words[4U * (r - 2U)];
        struct aes_planes planes =
            to_planes(w[0] | (uint64_t)w[1] << 32, w[2] | (uint64_t)w[3] << 32);

        key->round.planes[r - 2U] = planes;
    }
    key->expanded++;
}

/* --- a block (sections 5.1 and 5.3) --- */

void aes_begin(struct aes_state *state, const uint64_t block[2])
{
    state->planes = to_planes(block[0], block[1]);
    state->round = 0;
}

bool aes_encrypt(struct aes_state *state, const struct aes_key *key, unsigned count)
{
    struct aes_planes p = state->planes;
    unsigned round = state->round;

    if (round == 0) {
        p = add_planes(p, key->round.planes[0]);
    }
    for (; count > 0 && round < key->rounds; count--) {
        p = sub_bytes(p);
        p = (struct aes_planes){rotate_rows(p.low, 1), rotate_rows(p.high, 1)};
        round++;
        p = add_planes(round < key->rounds ? mix_columns(p) : p, key->round.planes[round]);
    }
    state->planes = p;
    state->round = round;
    return round == key->rounds;
}

bool aes_decrypt(struct aes_state *state, const struct aes_key *key, unsigned count)
{
    struct aes_planes p = state->planes;
    unsigned round = state->round;

    if (round == 0) {
        p = add_planes(p, key->round.planes[key->rounds]);
    }
    for (; count > 0 && round < key->rounds; count--) {
        p = (struct aes_planes){rotate_rows(p.low, 3), rotate_rows(p.high, 3)};
        p = inv_sub_bytes(p);
        round++;
        p = add_planes(p, key->round.planes[key->rounds - round]);
        p = round < key->rounds ? inv_mix_columns(p) : p;
    }
    state->planes = p;
    state->round = round;
    return round == key->rounds;
}

void aes_end(const struct aes_state *state, uint64_t block[2])
{
    from_planes(state->planes, block);
}
