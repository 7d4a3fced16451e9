//! A small site with the faults that small sites have, for an audit to find.

use crate::inbound::{BoxFuture, Method, Request, Response, Service};

/// A bakery with three pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site;

impl Service for Site {
    fn answer(&self, request: Request) -> BoxFuture<'_, Response> {
        let is_read = matches!(request.head.method, Method::Get | Method::Head);
        let response = match request.head.path.as_str() {
            _ if !is_read => Response::empty(405).with_header("allow", "GET, HEAD"),
            "/" => page(HOME),
            "/bread" => page(BREAD),
            "/contact" => page(CONTACT),
            "/robots.txt" => Response::text(200, ROBOTS),
            // The canonical address and the shop's link on the first page lead here.
            _ => Response::text(404, "There is no such page.\n"),
        };
        Box::pin(std::future::ready(response))
    }
}

fn page(html: &str) -> Response {
    Response::text(200, html).with_header("content-type", "text/html; charset=utf-8")
}

/// No description, a title that says nothing, two first headings, a heading level left out, a
/// picture without a text, a link that does not say where it leads and one that leads nowhere, a
/// canonical address that is relative and does not exist, and no word for small screens.
const HOME: &str = r#"<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>Home</title>
  <link rel="canonical" href="/welcome.html">
</head>
<body>
  <h1>Harbour Bakery</h1>
  <h1>Fresh every morning</h1>
  <p>We bake sourdough, rye and rolls in the old customs house at the harbour. The doors open at
  six, and when the shelves are empty we close: on most days that is shortly after noon.</p>
  <img src="/shop.jpg" width="640" height="400">
  <h4>This week</h4>
  <p>Rye with walnuts on Tuesday, spelt rolls on Thursday, plum cake on Saturday. Orders by
  telephone until the evening before are kept for you until ten.</p>
  <p><a href="/bread">Our bread</a>, <a href="/contact">how to find us</a>, and
  <a href="/shop">click here</a> for the shop. <a href="javascript:history.back()">Back</a></p>
</body>
</html>
"#;

/// The same title as another page, and kept from search engines by an old tag.
const BREAD: &str = r#"<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width">
  <meta name="robots" content="noindex">
  <title>Harbour Bakery</title>
  <meta name="description" content="Sourdough, rye and rolls, baked at the harbour.">
</head>
<body>
  <h1>Our bread</h1>
  <p>Sourdough from our own starter, rye with walnuts, spelt rolls.</p>
  <p><a href="/">Home</a></p>
</body>
</html>
"#;

/// The same title again, and no heading.
const CONTACT: &str = r#"<!doctype html>
<html>
<head>
  <meta charset="utf-8">
  <title>Harbour Bakery</title>
</head>
<body>
  <p>Old Customs House, Harbour Street 3. <a href="/">Home</a></p>
</body>
</html>
"#;

/// A rule that stands before anybody it could be for.
const ROBOTS: &str = "Disallow: /drafts\n\nUser-agent: *\nDisallow: /till\n";
