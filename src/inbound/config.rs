//! What an operator may choose about connections: deadlines and caps.

use std::net::IpAddr;
use std::time::Duration;

/// Deadlines and caps of everything that comes in through one [`Edge`](crate::inbound::Edge).
#[derive(Clone, Debug)]
pub struct Config {
    /// Time for a request's head from its first byte, for a TLS handshake, and for the first
    /// request of a connection from its beginning.
    pub header_timeout: Duration,
    /// Time for a request's body, beyond the time its bytes take at [`Self::body_rate`].
    pub body_timeout: Duration,
    /// The rate at which every body may come, however large it is, in bytes a second.
    pub body_rate: u32,
    /// Time without any progress while an answer is being written.
    pub write_timeout: Duration,
    /// Time from a request's last byte to its answer's head, if the service does not ask for more.
    pub request_timeout: Duration,
    /// Time between two requests of a connection.
    pub idle_timeout: Duration,
    /// Open connections.
    pub max_connections: usize,
    /// Open connections of one IPv4 address or one IPv6 network of 64 bits.
    ///
    /// Loopback, Unix sockets and trusted proxies bring many callers and are not counted.
    pub max_connections_per_ip: usize,
    /// Bytes of a request's head. Source: the contract's error table, "Limits".
    pub header_bytes: usize,
    /// Header lines of a request.
    pub headers: usize,
    /// Bytes of a request's target. Source: the contract's error table, "Limits".
    pub url_bytes: usize,
    /// Networks, as address and prefix length, whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<(IpAddr, u8)>,
    /// Time that open connections get to end after the shutdown has begun.
    pub drain: Duration,
}

impl Config {
    /// The shortest of the deadlines that one timer of a connection watches over.
    pub(super) fn shortest(&self) -> Duration {
        let all = [self.header_timeout, self.write_timeout, self.request_timeout];
        all.into_iter().fold(self.idle_timeout, Duration::min)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(15),
            body_rate: 16 * 1024,
            write_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(75),
            max_connections: 1024,
            max_connections_per_ip: 64,
            header_bytes: 16 * 1024,
            headers: 64,
            url_bytes: 8 * 1024,
            trusted_proxies: Vec::new(),
            drain: Duration::from_secs(30),
        }
    }
}
