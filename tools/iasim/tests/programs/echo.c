// SPDX-License-Identifier: Apache-2.0
// Sends back what it receives, in capitals, up to the end of a line; the result is the number of characters.

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
