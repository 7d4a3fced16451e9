//! The agent `seo_audit`: can one page be found and read, and what to mend first.
//!
//! It fetches the page and the robots.txt of its host, applies every rule, and writes a report for
//! people and the same for programs. Deterministic: the same answers give the same report. Scripts
//! are not run; what only they put on the page is not seen.

mod seo_audit;
pub use seo_audit::SeoAudit;

pub mod failure;

pub mod around;
pub mod asking;
pub mod surroundings;

pub mod audit;
pub mod content;
pub mod finding;
pub mod items;
pub mod json_ld;
pub mod microdata;
pub mod price;
pub mod schema;
pub mod sitemap;
pub mod subject;
pub mod target;
pub mod wall;

pub mod checks;
pub mod dates;
pub mod link_header;
pub mod robots_tags;
pub mod sources;

pub mod comparable;
pub mod indexing;
pub mod score;

pub mod answers;
pub mod changes;
pub mod history;
pub mod news;
pub mod noise;
pub mod past;
pub mod trace;

pub mod markdown;
pub mod report;
pub mod result;

#[cfg(test)]
mod sample;
