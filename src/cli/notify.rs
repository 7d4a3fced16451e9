//! Tells systemd how far the daemon is.
//!
//! The protocol is a datagram of `NAME=value` lines to the socket that `$NOTIFY_SOCKET` names.
//! Source: `sd_notify(3)`. Without that variable nothing is told, and nothing is missed.

use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;
use std::time::Duration;

use crate::app::App;
use crate::config::Environment;
use crate::sys::clock::Clock;

/// The way to the service manager, when there is one.
#[derive(Debug)]
pub(super) struct Notifier {
    way: Option<(UnixDatagram, SocketAddr)>,
    watchdog: Option<Duration>,
}

impl Notifier {
    /// The one that the environment names.
    pub(super) fn of(environment: &Environment) -> Self {
        let way = environment.var("NOTIFY_SOCKET").and_then(|name| {
            let address = address(name)?;
            Some((UnixDatagram::unbound().ok()?, address))
        });
        let watchdog = way.as_ref().and_then(|_| watchdog(environment, std::process::id()));
        Self { way, watchdog }
    }

    /// Asks for more time, again and again: the check of a large file takes long.
    ///
    /// # Cancel safety
    ///
    /// Safe: it never ends by itself.
    pub(super) async fn while_starting(&self, clock: &Clock) {
        loop {
            let more = START_SIGN.saturating_mul(3).as_micros();
            self.tell(&format!("STATUS=opening the data file\nEXTEND_TIMEOUT_USEC={more}"));
            clock.sleep(START_SIGN).await;
        }
    }

    /// The daemon answers.
    pub(super) fn ready(&self, status: &str) {
        self.tell(&format!("READY=1\nSTATUS={status}"));
    }

    /// The daemon ends.
    pub(super) fn stopping(&self) {
        self.tell("STOPPING=1\nSTATUS=finishing what is under way");
    }

    /// Gives a sign of life in time, again and again, for as long as the loops turn.
    ///
    /// # Cancel safety
    ///
    /// Safe: it never ends by itself.
    pub(super) async fn keep_alive(&self, app: &App) {
        let Some(watchdog) = self.watchdog else { return std::future::pending().await };
        loop {
            if app.beats().ages().iter().all(|(_, age)| *age < watchdog) {
                self.tell("WATCHDOG=1");
            }
            app.clock().sleep(watchdog / 3).await;
        }
    }

    fn tell(&self, text: &str) {
        if let Some((socket, address)) = &self.way
            && let Err(error) = socket.send_to_addr(text.as_bytes(), address)
        {
            tracing::warn!(%error, "systemd could not be told: {error}");
        }
    }
}

/// The address behind a name: a path, or a name that exists in the kernel only.
fn address(name: &str) -> Option<SocketAddr> {
    match name.strip_prefix('@') {
        Some(rest) => kernel_address(rest),
        None if name.starts_with('/') => SocketAddr::from_pathname(Path::new(name)).ok(),
        None => None,
    }
}

#[cfg(target_os = "linux")]
fn kernel_address(name: &str) -> Option<SocketAddr> {
    use std::os::linux::net::SocketAddrExt as _;
    SocketAddr::from_abstract_name(name).ok()
}

#[cfg(not(target_os = "linux"))]
fn kernel_address(_name: &str) -> Option<SocketAddr> {
    None
}

/// How often a sign of life is wanted of this process.
fn watchdog(environment: &Environment, pid: u32) -> Option<Duration> {
    let is_other = |it: &str| it.parse() != Ok(pid);
    if environment.var("WATCHDOG_PID").is_some_and(is_other) {
        return None;
    }
    let micros: u64 = environment.var("WATCHDOG_USEC")?.parse().ok()?;
    Some(Duration::from_micros(micros)).filter(|it| *it >= WATCHDOG_MIN)
}

/// Time between two signs of a start that goes on.
const START_SIGN: Duration = Duration::from_secs(10);
/// The shortest interval that is kept; below it, signs of life would be all that is done.
const WATCHDOG_MIN: Duration = Duration::from_millis(300);

#[cfg(test)]
mod tests {
    use std::os::linux::net::SocketAddrExt as _;

    use super::*;

    #[track_caller]
    fn check_told(name: &str, listener: &UnixDatagram) {
        let environment = Environment::of(Path::new("/"), &[("NOTIFY_SOCKET", name)]);
        Notifier::of(&environment).ready("up");
        let mut told = [0; 64];
        let length = listener.recv(&mut told).unwrap();
        assert_eq!(&told[..length], b"READY=1\nSTATUS=up", "{name}");
    }

    #[test]
    fn systemd_is_told_at_a_path_and_at_an_abstract_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notify");
        check_told(path.to_str().unwrap(), &UnixDatagram::bind(&path).unwrap());
        let name = format!("errand-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(name.as_bytes()).unwrap();
        check_told(&format!("@{name}"), &UnixDatagram::bind_addr(&address).unwrap());
    }

    #[test]
    fn without_a_manager_nothing_is_told_and_nothing_fails() {
        for variables in
            [&[][..], &[("NOTIFY_SOCKET", "nonsense")], &[("NOTIFY_SOCKET", "/no/one")]]
        {
            let notifier = Notifier::of(&Environment::of(Path::new("/"), variables));
            notifier.ready("up");
            notifier.stopping();
        }
    }

    #[test]
    fn a_watchdog_of_another_process_is_not_ours() {
        let of =
            |variables: &[(&str, &str)]| watchdog(&Environment::of(Path::new("/"), variables), 7);
        let minute = ("WATCHDOG_USEC", "60000000");
        assert_eq!(of(&[minute]), Some(Duration::from_secs(60)));
        assert_eq!(of(&[minute, ("WATCHDOG_PID", "7")]), Some(Duration::from_secs(60)));
        assert_eq!(of(&[minute, ("WATCHDOG_PID", "8")]), None);
        assert_eq!(of(&[("WATCHDOG_USEC", "0")]), None);
        assert_eq!(of(&[("WATCHDOG_USEC", "soon")]), None);
    }
}
