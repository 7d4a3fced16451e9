//! One HTTP/1.1 request and its answer over one connection.
//!
//! The connection is driven by whoever waits for the answer, not by a task of its own: nobody
//! reads ahead, and dropping the exchange closes the socket at once.

use std::error::Error as StdError;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;

use crate::outbound::trust::tls_error;
use crate::outbound::wire::{Meter, Transport, Wire};
use crate::outbound::{Ask, BadResponse, BadUrl, ConnectError, Error, Method};

/// A connection on which one request was sent.
pub(super) struct Exchange {
    /// `None` once the connection has ended.
    connection: Option<Box<http1::Connection<TokioIo<Wire>, Full<Bytes>>>>,
    body: Option<Incoming>,
    meter: Arc<Meter>,
}

/// Makes the request that `ask` describes.
///
/// # Errors
///
/// [`Error::Url`] or [`Error::Header`].
pub(super) fn request(ask: &Ask) -> Result<Request<Full<Bytes>>, Error> {
    let mut target = ask.url.path().to_owned();
    if let Some(query) = ask.url.query() {
        target.push('?');
        target.push_str(query);
    }
    let uri = Uri::try_from(target).map_err(|_| Error::Url(BadUrl::Path))?;
    let mut request = Request::new(Full::new(ask.body.clone()));
    *request.method_mut() = match ask.method {
        Method::Get => hyper::Method::GET,
        Method::Head => hyper::Method::HEAD,
        Method::Post => hyper::Method::POST,
    };
    *request.uri_mut() = uri;
    let headers = request.headers_mut();
    headers.insert(header::HOST, host(&ask.url)?);
    for (name, value) in &ask.headers {
        let bad = Error::Header(name);
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad)?;
        if OWN_HEADERS.contains(&key.as_str()) {
            return Err(bad);
        }
        headers.append(key, HeaderValue::from_str(value).map_err(|_| bad)?);
    }
    if !ask.body.is_empty() || ask.method == Method::Post {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(ask.body.len()));
    }
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    Ok(request)
}

/// The host as the URL has it, with the port if it is not the scheme's own.
fn host(url: &url::Url) -> Result<HeaderValue, Error> {
    let mut host = url.host_str().unwrap_or_default().to_owned();
    if let Some(port) = url.port() {
        host.push(':');
        host.push_str(&port.to_string());
    }
    HeaderValue::try_from(host).map_err(|_| Error::Url(BadUrl::Host))
}

/// Sends `request` and waits for the head of the answer; interim answers are skipped.
///
/// # Errors
///
/// [`Error::Connect`], [`Error::Tls`] or [`Error::BadResponse`].
pub(super) async fn send(
    transport: Transport,
    request: Request<Full<Bytes>>,
) -> Result<(Response<()>, Exchange), Error> {
    let meter = Meter::new(HEAD_SOCKET_BYTES_MAX);
    let wire = TokioIo::new(Wire::new(transport, Arc::clone(&meter)));
    let (mut sender, connection) = http1::Builder::new()
        .title_case_headers(true)
        .max_headers(HEADERS_MAX)
        .max_header_size(HEAD_BYTES_MAX)
        .max_buf_size(BUFFER_BYTES)
        .handshake(wire)
        .await
        .map_err(|it| failure(&it, &meter))?;
    let connection = Some(Box::new(connection));
    let mut exchange = Exchange { connection, body: None, meter };
    let mut answer = pin!(sender.send_request(request));
    let answer = std::future::poll_fn(|cx| {
        let ended = exchange.poll_connection(cx);
        match answer.as_mut().poll(cx) {
            Poll::Ready(answer) => Poll::Ready(answer.map_err(|it| failure(&it, &exchange.meter))),
            Poll::Pending => ended.map(Err),
        }
    })
    .await?;
    exchange.meter.lift();
    let status = answer.status();
    if status == StatusCode::SWITCHING_PROTOCOLS || status.as_u16() > STATUS_MAX {
        return Err(Error::BadResponse(BadResponse::NotHttp));
    }
    let (head, body) = answer.into_parts();
    exchange.body = Some(body);
    Ok((Response::from_parts(head, ()), exchange))
}

impl Exchange {
    /// Waits for the next piece of the body, as it is sent; `None` at its end.
    ///
    /// # Errors
    ///
    /// [`Error::Tls`] or [`Error::BadResponse`].
    ///
    /// # Cancel safety
    ///
    /// Safe: no piece is lost.
    pub(super) async fn piece(&mut self) -> Result<Option<Bytes>, Error> {
        std::future::poll_fn(|cx| self.poll_piece(cx)).await
    }

    /// The length that the head announces, if it does.
    pub(super) fn announced(&self) -> Option<u64> {
        self.body.as_ref()?.size_hint().exact()
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Error>> {
        loop {
            let ended = self.poll_connection(cx);
            let Some(body) = &mut self.body else {
                return Poll::Ready(Ok(None));
            };
            match Pin::new(body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    // Trailers are skipped.
                    if let Ok(piece) = frame.into_data() {
                        return Poll::Ready(Ok(Some(piece)));
                    }
                }
                Poll::Ready(Some(Err(error))) => {
                    return Poll::Ready(Err(failure(&error, &self.meter)));
                }
                Poll::Ready(None) => return Poll::Ready(Ok(None)),
                Poll::Pending => return ended.map(Err),
            }
        }
    }

    /// Lets the connection do its work; ready with what is wrong when it can do no more.
    fn poll_connection(&mut self, cx: &mut Context<'_>) -> Poll<Error> {
        let Some(connection) = &mut self.connection else {
            return Poll::Ready(Error::BadResponse(BadResponse::ClosedEarly));
        };
        let ended = std::task::ready!(Pin::new(connection).poll(cx));
        self.connection = None;
        Poll::Ready(match ended {
            Ok(()) => Error::BadResponse(BadResponse::ClosedEarly),
            Err(error) => failure(&error, &self.meter),
        })
    }
}

/// What an error of the HTTP library means, from its kind and the kind of its cause.
pub(super) fn failure(error: &hyper::Error, meter: &Meter) -> Error {
    tracing::debug!(%error, "could not read an answer");
    if meter.is_spent() || error.is_parse_too_large() {
        return Error::BadResponse(BadResponse::HeadTooLarge);
    }
    if error.is_parse() {
        return Error::BadResponse(BadResponse::NotHttp);
    }
    let mut cause = error.source();
    while let Some(found) = cause {
        if let Some(error) = found.downcast_ref::<io::Error>() {
            return broken(error, meter);
        }
        cause = found.source();
    }
    Error::BadResponse(BadResponse::ClosedEarly)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "an open set of the library")]
fn broken(error: &io::Error, meter: &Meter) -> Error {
    use io::ErrorKind as Kind;
    if let Some(detail) = tls_error(error) {
        return Error::Tls(detail);
    }
    match error.kind() {
        Kind::ConnectionReset | Kind::ConnectionAborted | Kind::BrokenPipe if meter.read() == 0 => {
            Error::Connect(ConnectError::Reset)
        }
        Kind::InvalidData | Kind::InvalidInput => Error::BadResponse(BadResponse::NotHttp),
        _ => Error::BadResponse(BadResponse::ClosedEarly),
    }
}

/// Headers of an answer. Source: the contract, section 8.
const HEADERS_MAX: usize = 100;
/// Bytes of an answer's head. Source: the contract, section 8.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Bytes that are read from the socket for a head, skipped interim answers included.
const HEAD_SOCKET_BYTES_MAX: usize = 128 * 1024;
/// Bytes that are read at once. Small enough that what follows a head in the same moment, at
/// most three times this, stays under the limit for heads.
const BUFFER_BYTES: usize = 32 * 1024;
/// The largest status there is.
const STATUS_MAX: u16 = 599;
/// Headers that frame the message or belong to the connection; callers do not write them.
const OWN_HEADERS: [&str; 9] = [
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "expect",
    "keep-alive",
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::receiver::{ReceiverUrl, UrlPolicy};
    use crate::domain::target::PageUrl;
    use crate::outbound::trust::server_name;

    fn ask(url: &str) -> Ask {
        Ask::get(url.parse().unwrap())
    }

    #[test]
    fn the_host_comes_first_and_has_its_port_only_if_it_is_another() {
        for (url, host) in [
            ("https://a.example:443/", "a.example"),
            ("http://a.example:8080/", "a.example:8080"),
            ("https://[2a00::1]:8443/", "[2a00::1]:8443"),
            ("https://bücher.example/", "xn--bcher-kva.example"),
        ] {
            let request = request(&ask(url)).unwrap();
            let (name, value) = request.headers().iter().next().unwrap();
            assert_eq!((name.as_str(), value.to_str().unwrap()), ("host", host));
        }
    }

    #[test]
    fn headers_that_frame_the_message_and_headers_with_line_breaks_are_refused() {
        for (name, value) in [
            ("host", "other.example"),
            ("content-length", "1"),
            ("transfer-encoding", "chunked"),
            ("connection", "keep-alive"),
            ("x-a", "b\r\nx-c: d"),
            ("x-a", "\0"),
            ("x a", "b"),
            ("", "b"),
        ] {
            let ask = Ask { headers: vec![(name, value.to_owned())], ..ask("https://a.example/") };
            assert_eq!(request(&ask).unwrap_err(), Error::Header(name), "{value:?}");
        }
    }

    proptest! {
        #[test]
        fn the_host_of_a_url_that_is_taken_is_the_host_of_the_request_and_of_tls(
            host in "[a-zA-Z0-9ü.\\[\\]:_-]{1,16}",
            tail in "[ -~é]{0,12}",
        ) {
            let text = format!("https://{host}/{tail}");
            let receiver = ReceiverUrl::parse(&text, UrlPolicy::Public).map(|it| it.url().clone());
            let page = PageUrl::parse(&text, UrlPolicy::Public).map(|it| it.url().clone());
            for url in [receiver, page].into_iter().flatten() {
                let request = request(&Ask::get(url.clone())).unwrap();
                let printed = url.host_str().unwrap().to_owned();
                let authority = url.port().map_or(printed.clone(), |it| format!("{printed}:{it}"));
                prop_assert_eq!(request.headers()[header::HOST].to_str().unwrap(), authority);
                let proven = server_name(&url.host().unwrap()).unwrap();
                prop_assert_eq!(proven.to_str(), printed.trim_matches(['[', ']']));
            }
        }
    }
}
