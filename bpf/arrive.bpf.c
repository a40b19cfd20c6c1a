// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * BPF program that counts the requests that arrive at the sockets of a cgroup. A request is a UDP
 * datagram, or a TCP segment with the flag PSH, which the sender sets at the end of a write.
 * user/lib/arrivals.c loads the program.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

typedef unsigned char u8;

#define TCP	6
#define UDP	17
#define PSH	0x08

/* Number of requests; read by user space. */
__u64 arrived;

SEC("cgroup_skb/ingress")
int arrive(struct __sk_buff *skb)
{
	u8 head[20], flags = 0;
	int at, protocol;

	/* The packet begins with its IP header. */
	if (bpf_skb_load_bytes(skb, 0, head, sizeof(head)))
		return 1;
	if (head[0] >> 4 == 4) {
		at = (head[0] & 15) * 4;
		protocol = head[9];
	} else {
		/*
		 * IPv6 extension headers are not parsed, because clients rarely send any: a
		 * packet with one is not counted.
		 */
		at = 40;
		protocol = head[6];
	}
	if (protocol == TCP && bpf_skb_load_bytes(skb, at + 13, &flags, 1))
		return 1;
	if (protocol == UDP || flags & PSH)
		__sync_fetch_and_add(&arrived, 1);
	return 1;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
