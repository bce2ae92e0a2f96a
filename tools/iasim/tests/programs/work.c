// SPDX-License-Identifier: Apache-2.0
// A workload to measure the speed of the simulator and to test compiled code: a sieve, a sort, a
// checksum of both.

#define UART ((volatile unsigned char *)0xBFD003F8)
#define LIMIT 8192
#ifndef ROUNDS
#define ROUNDS 200
#endif

static unsigned char sieve[LIMIT];
static unsigned short numbers[1024];

static void print(const char *text)
{
    while (*text)
        *UART = (unsigned char)*text++;
}

static unsigned count_primes(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < LIMIT; i++)
        sieve[i] = 1;
    for (unsigned i = 2; i < LIMIT; i++) {
        if (!sieve[i])
            continue;
        count++;
        for (unsigned j = 2 * i; j < LIMIT; j += i)
            sieve[j] = 0;
    }
    return count;
}

static void sort(unsigned seed)
{
    for (unsigned i = 0; i < 1024; i++) {
        seed = seed * 1103515245u + 12345u;
        numbers[i] = (unsigned short)(seed >> 16);
    }
    for (unsigned gap = 512; gap; gap /= 2)
        for (unsigned i = gap; i < 1024; i++)
            for (unsigned j = i; j >= gap && numbers[j - gap] > numbers[j]; j -= gap) {
                unsigned short swap = numbers[j];
                numbers[j] = numbers[j - gap];
                numbers[j - gap] = swap;
            }
}

int main(void)
{
    unsigned sum = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        sum += count_primes();
        sort(round);
        for (unsigned i = 0; i < 1024; i++)
            sum = sum * 31 + numbers[i] / (round + 3);
    }
    for (unsigned n = 32; n; n -= 4) {
        char digit[2] = {"0123456789abcdef"[sum >> (n - 4) & 15], 0};
        print(digit);
    }
    print("\n");
    return 0;
}
