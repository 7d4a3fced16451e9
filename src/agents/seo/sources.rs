//! Who says that the rules are rules: the documents that reports link to.

use crate::agents::seo::finding::Source;

const fn google(name: &'static str, url: &'static str) -> Source {
    Source { name, url: Some(url) }
}

/// A rule of our own, without a document that demands it.
pub const OWN: Source =
    Source { name: "a rule of this audit; no search engine has documented it", url: None };

/// Robots meta tags and `X-Robots-Tag`.
pub const GOOGLE_ROBOTS_TAGS: Source = google(
    "Google: robots meta tag",
    "https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag",
);
/// How robots.txt is read, also when it cannot be.
pub const GOOGLE_ROBOTS_TXT: Source = google(
    "Google: how robots.txt is interpreted",
    "https://developers.google.com/search/docs/crawling-indexing/robots/robots_txt",
);
/// Canonical addresses.
pub const GOOGLE_CANONICAL: Source = google(
    "Google: canonical URLs",
    "https://developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls",
);
/// Versions in other languages.
pub const GOOGLE_HREFLANG: Source = google(
    "Google: localized versions",
    "https://developers.google.com/search/docs/specialty/international/localized-versions",
);
/// What may stand in the head.
pub const GOOGLE_HEAD: Source = google(
    "Google: valid page metadata",
    "https://developers.google.com/search/docs/crawling-indexing/valid-page-metadata",
);
/// Titles in results.
pub const GOOGLE_TITLE: Source = google(
    "Google: title links",
    "https://developers.google.com/search/docs/appearance/title-link",
);
/// Texts under titles in results.
pub const GOOGLE_SNIPPET: Source =
    google("Google: snippets", "https://developers.google.com/search/docs/appearance/snippet");
/// What a link must be to be followed.
pub const GOOGLE_LINKS: Source = google(
    "Google: crawlable links",
    "https://developers.google.com/search/docs/crawling-indexing/links-crawlable",
);
/// Redirects.
pub const GOOGLE_REDIRECTS: Source = google(
    "Google: redirects",
    "https://developers.google.com/search/docs/crawling-indexing/301-redirects",
);
/// Statuses and network errors.
pub const GOOGLE_STATUS: Source = google(
    "Google: HTTP status codes",
    "https://developers.google.com/search/docs/crawling-indexing/http-network-errors",
);
/// How much of a page is read.
pub const GOOGLE_CRAWLERS: Source = google(
    "Google: crawler overview",
    "https://developers.google.com/search/docs/crawling-indexing/overview-google-crawlers",
);
/// Pages over TLS.
pub const GOOGLE_PAGE_EXPERIENCE: Source = google(
    "Google: page experience",
    "https://developers.google.com/search/docs/appearance/page-experience",
);
/// Images that scripts load.
pub const GOOGLE_LAZY: Source = google(
    "Google: lazy-loaded content",
    "https://developers.google.com/search/docs/crawling-indexing/javascript/lazy-loading",
);
/// `rel` values of links.
pub const GOOGLE_REL: Source = google(
    "Google: rel attributes of links",
    "https://developers.google.com/search/docs/crawling-indexing/qualify-outbound-links",
);
/// Pages that answer with success and say that they are not there.
pub const GOOGLE_SOFT_404: Source = google(
    "Google: soft 404 errors",
    "https://developers.google.com/search/docs/crawling-indexing/http-network-errors#soft-404-errors",
);
/// Pages that scripts fill.
pub const GOOGLE_JAVASCRIPT: Source = google(
    "Google: JavaScript and search",
    "https://developers.google.com/search/docs/crawling-indexing/javascript/javascript-seo-basics",
);
/// Descriptions of things for programs.
pub const GOOGLE_STRUCTURED_DATA: Source = google(
    "Google: structured data",
    "https://developers.google.com/search/docs/appearance/structured-data/intro-structured-data",
);
/// What each kind of thing must have.
pub const GOOGLE_GALLERY: Source = google(
    "Google: structured data features",
    "https://developers.google.com/search/docs/appearance/structured-data/search-gallery",
);
/// Rules for descriptions of things.
pub const GOOGLE_STRUCTURED_POLICIES: Source = google(
    "Google: structured data guidelines",
    "https://developers.google.com/search/docs/appearance/structured-data/sd-policies",
);
/// Icons in results.
pub const GOOGLE_FAVICON: Source = google(
    "Google: favicons in results",
    "https://developers.google.com/search/docs/appearance/favicon-in-search",
);
/// Forms of addresses.
pub const GOOGLE_URLS: Source = google(
    "Google: URL structure",
    "https://developers.google.com/search/docs/crawling-indexing/url-structure",
);

const fn lighthouse(name: &'static str, url: &'static str) -> Source {
    Source { name, url: Some(url) }
}

/// The status of a page.
pub const LIGHTHOUSE_STATUS: Source = lighthouse(
    "Lighthouse: http-status-code",
    "https://developer.chrome.com/docs/lighthouse/seo/http-status-code",
);
/// Descriptions.
pub const LIGHTHOUSE_DESCRIPTION: Source = lighthouse(
    "Lighthouse: meta-description",
    "https://developer.chrome.com/docs/lighthouse/seo/meta-description",
);
/// Link texts.
pub const LIGHTHOUSE_LINK_TEXT: Source = lighthouse(
    "Lighthouse: link-text",
    "https://developer.chrome.com/docs/lighthouse/seo/link-text",
);
/// Compression.
pub const LIGHTHOUSE_COMPRESSION: Source = lighthouse(
    "Lighthouse: text compression",
    "https://developer.chrome.com/docs/lighthouse/performance/uses-text-compression",
);
/// Robots.txt, line by line.
pub const LIGHTHOUSE_ROBOTS_TXT: Source = lighthouse(
    "Lighthouse: robots-txt",
    "https://developer.chrome.com/docs/lighthouse/seo/invalid-robots-txt",
);

const fn axe(name: &'static str, url: &'static str) -> Source {
    Source { name, url: Some(url) }
}

/// A title for every page.
pub const AXE_TITLE: Source =
    axe("axe: document-title", "https://dequeuniversity.com/rules/axe/4.10/document-title");
/// Texts for images.
pub const AXE_IMAGE: Source =
    axe("axe: image-alt", "https://dequeuniversity.com/rules/axe/4.10/image-alt");
/// Names for links.
pub const AXE_LINK_NAME: Source =
    axe("axe: link-name", "https://dequeuniversity.com/rules/axe/4.10/link-name");
/// The order of headings.
pub const AXE_HEADING_ORDER: Source =
    axe("axe: heading-order", "https://dequeuniversity.com/rules/axe/4.10/heading-order");
/// Languages of pages.
pub const AXE_LANG: Source =
    axe("axe: html-has-lang", "https://dequeuniversity.com/rules/axe/4.10/html-has-lang");
/// Pages that reload.
pub const AXE_REFRESH: Source =
    axe("axe: meta-refresh", "https://dequeuniversity.com/rules/axe/4.10/meta-refresh");
/// Pages that forbid zooming.
pub const AXE_VIEWPORT: Source =
    axe("axe: meta-viewport", "https://dequeuniversity.com/rules/axe/4.10/meta-viewport");

const fn standard(name: &'static str, url: &'static str) -> Source {
    Source { name, url: Some(url) }
}

/// Encodings of pages.
pub const HTML_CHARSET: Source = standard(
    "HTML standard: specifying the encoding",
    "https://html.spec.whatwg.org/multipage/semantics.html#charset",
);
/// Document types.
pub const HTML_DOCTYPE: Source = standard(
    "HTML standard: the doctype",
    "https://html.spec.whatwg.org/multipage/syntax.html#the-doctype",
);
/// XML syntax.
pub const HTML_XML: Source =
    standard("HTML standard: the XML syntax", "https://html.spec.whatwg.org/multipage/xhtml.html");
/// Headings.
pub const HTML_HEADINGS: Source = standard(
    "HTML standard: headings",
    "https://html.spec.whatwg.org/multipage/sections.html#the-h1,-h2,-h3,-h4,-h5,-and-h6-elements",
);
/// Sizes of images.
pub const HTML_DIMENSIONS: Source = standard(
    "HTML standard: dimension attributes",
    "https://html.spec.whatwg.org/multipage/embedded-content-other.html#dimension-attributes",
);
/// `picture`.
pub const HTML_PICTURE: Source = standard(
    "HTML standard: picture",
    "https://html.spec.whatwg.org/multipage/embedded-content.html#the-picture-element",
);
/// Types of documents.
pub const MIME_SNIFFING: Source =
    standard("MIME Sniffing standard", "https://mimesniff.spec.whatwg.org/");
/// `Content-Disposition`.
pub const RFC_6266: Source =
    standard("RFC 6266: Content-Disposition", "https://www.rfc-editor.org/rfc/rfc6266");
/// Robots.txt.
pub const RFC_9309: Source =
    standard("RFC 9309: robots.txt", "https://www.rfc-editor.org/rfc/rfc9309");
/// Time to the first byte.
pub const WEB_DEV_TTFB: Source =
    standard("web.dev: time to first byte", "https://web.dev/articles/ttfb");
/// Sitemaps.
pub const SITEMAPS_ORG: Source =
    standard("sitemaps.org: protocol", "https://www.sitemaps.org/protocol.html");
/// Previews.
pub const OPEN_GRAPH: Source = standard("Open Graph protocol", "https://ogp.me/");
/// Guides for language models.
pub const LLMS_TXT: Source = standard("llms.txt, a proposal", "https://llmstxt.org/");
/// JSON in pages.
pub const JSON_LD: Source = standard(
    "JSON-LD 1.1: in HTML",
    "https://www.w3.org/TR/json-ld11/#embedding-json-ld-in-html-documents",
);
/// Unencrypted parts of encrypted pages.
pub const MDN_MIXED_CONTENT: Source =
    standard("MDN: mixed content", "https://developer.mozilla.org/docs/Web/Security/Mixed_content");
/// The viewport.
pub const MDN_VIEWPORT: Source = standard(
    "MDN: viewport",
    "https://developer.mozilla.org/docs/Web/HTML/Reference/Elements/meta/name/viewport",
);
