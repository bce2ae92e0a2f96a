// SPDX-License-Identifier: Apache-2.0
// Echoes a line of input in capitals; the result is the number of characters.

#define UART ((volatile unsigned char *)0xBFD003F8)
#define LSR 5
#define RECEIVED 1

int main(void)
{
    int count = 0;
    unsigned char c = 0;
    while (c != '\n') {
        while (!(UART[LSR] & RECEIVED)) {
        }
        c = UART[0];
        UART[0] = (unsigned char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
        count++;
    }
    return count;
}
