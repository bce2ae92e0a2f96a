/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuration of lwIP: IPv4 with a static address, ICMP, UDP, TCP; the raw API and the API of
 * connections (netconn). Tasks call the stack with its lock held, so that a frame passes no queue
 * between the interface's task and the receiver's callback.
 */
#ifndef LWIPOPTS_H
#define LWIPOPTS_H

#define NO_SYS 0
#define SYS_LIGHTWEIGHT_PROT 1
#define LWIP_TCPIP_CORE_LOCKING 1
#define LWIP_TCPIP_CORE_LOCKING_INPUT 1

#define LWIP_IPV4 1
#define LWIP_IPV6 0
#define LWIP_ICMP 1
#define LWIP_RAW 1
#define LWIP_UDP 1
#define LWIP_TCP 1
#define ARP_QUEUEING 1 /* all packets wait for an answer, not only the last one */
#define LWIP_DHCP 0
#define LWIP_ACD 0
#define LWIP_DNS 0
#define LWIP_NETCONN 1
#define LWIP_SOCKET 0
#define LWIP_SO_RCVTIMEO 1
#define LWIP_SO_SNDTIMEO 1

#define TCPIP_THREAD_NAME "lwip"
#define TCPIP_THREAD_STACKSIZE 8192 /* bytes */
#define TCPIP_THREAD_PRIO 4
#define TCPIP_MBOX_SIZE 16
#define DEFAULT_TCP_RECVMBOX_SIZE 8
#define DEFAULT_ACCEPTMBOX_SIZE 4

/* A frame is in one buffer, because the device writes it there (ethernet_netif.c). */
#define PBUF_POOL_BUFSIZE 1520
#define PBUF_POOL_SIZE 32
#define MEM_ALIGNMENT 8
#define MEM_SIZE (32 * 1024)

#define TCP_MSS 1460
#define TCP_WND (4 * TCP_MSS)
#define TCP_SND_BUF (4 * TCP_MSS)
#define TCP_SND_QUEUELEN 16
#define MEMP_NUM_TCP_SEG 32

#define LWIP_STATS 1
#define MIB2_STATS 1
#define LINK_STATS 0
#define ETHARP_STATS 0
#define IP_STATS 0
#define IPFRAG_STATS 0
#define ICMP_STATS 0
#define UDP_STATS 0
#define TCP_STATS 0
#define MEM_STATS 0
#define MEMP_STATS 0
#define SYS_STATS 0

#endif
