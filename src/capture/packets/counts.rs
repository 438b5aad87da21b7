//! What was met in packets that is no message, and what to do about it.

/// Counts over a file.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Connections, by what they carry.
    pub tls: u64,
    pub http2: u64,
    pub switched: u64,
    pub others: u64,
    /// Packets of connections that cannot be read.
    pub opaque_packets: u64,
    /// Connections whose beginning was not captured.
    pub midway: u64,
    /// Places where bytes were not captured, and the bytes.
    pub gaps: u64,
    pub lacking: u64,
    /// Packets that were captured in part.
    pub cut_packets: u64,
    /// Segments that hold nothing new, and those among them with other bytes than came first.
    pub repeated: u64,
    pub differing: u64,
    pub fragments: u64,
    pub quic: u64,
    pub not_tcp: u64,
    /// Heads of messages that could not be read, or of which a part was not captured.
    pub bad_heads: u64,
    pub cut_heads: u64,
    /// Bodies that do not end as they said, and those too long to be kept.
    pub broken_bodies: u64,
    pub long_bodies: u64,
    /// Answers to requests that were not captured, and requests whose answer was not.
    pub only_answers: u64,
    pub lost_answers: u64,
    /// Connections that were let go to bound memory.
    pub crowded_out: u64,
    pub too_heavy: u64,
}

impl Counts {
    pub fn notes(&self) -> Vec<String> {
        let opaque = self.tls + self.http2 + self.switched;
        let remarks = [
            (
                self.tls,
                "connections are encrypted (TLS), and what they say is not known: give what a proxy in between recorded \
                 (mitmproxy, HAR), the log of the client or the server, or what tshark decrypts with the session's keys \
                 (tshark -o tls.keylog_file:KEYS -r FILE -T ek -x)",
            ),
            (
                self.http2,
                "connections speak HTTP/2, which is not read from packets: give what a proxy in between recorded \
                 (mitmproxy, HAR), or the log of the client or the server",
            ),
            (
                self.quic,
                "packets are UDP on port 443, perhaps HTTP/3, which is encrypted: give what a proxy in between recorded \
                 (mitmproxy, HAR), or the log of the client or the server",
            ),
            (self.switched, "connections switched to another protocol (WebSocket), which is not read"),
            (if opaque > 0 { self.opaque_packets } else { 0 }, "packets belong to connections that cannot be read"),
            (self.others, "TCP connections carry no HTTP"),
            (self.not_tcp, "packets are no TCP"),
            (
                self.fragments,
                "packets are fragments of IP packets, which are not put together: record where packets are whole",
            ),
            (
                self.midway,
                "connections began before the capture: they are read from the first message that begins in it",
            ),
            (
                self.cut_packets,
                "packets were captured in part: the missing bytes are marked (record whole packets: tcpdump -s 0)",
            ),
            (self.repeated, "packets repeat bytes that were captured before"),
            (self.differing, "packets repeat bytes with another content: what was captured first counts"),
            (self.bad_heads, "messages have a head that cannot be read"),
            (self.cut_heads, "messages have a head of which a part was not captured: they are not read"),
            (self.broken_bodies, "bodies do not end as they said they would: they are marked as cut"),
            (self.long_bodies, "bodies are longer than 64 MiB: what follows is left out, and they are marked as cut"),
            (self.only_answers, "answers belong to requests that were not captured"),
            (self.lost_answers, "requests were answered, and the answer was not captured"),
            (
                self.crowded_out,
                "connections were let go because too many were open at once: what they said later is read as of \
                 connections that began before the capture",
            ),
            (
                self.too_heavy,
                "connections were let go because too much of them was waiting for its end: what had come is marked as cut",
            ),
        ];
        let mut notes: Vec<String> = remarks
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        if self.gaps > 0 {
            notes.push(format!(
                "{} bytes in {} places were sent and not captured: what they were part of is marked as cut",
                self.lacking, self.gaps
            ));
        }
        notes
    }
}
