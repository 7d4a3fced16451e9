//! Every kind that this daemon can run, in a stable order.

use std::fmt;
use std::sync::Arc;

use crate::agents::agent::{Agent, Entry};
use crate::agents::scan::CompetitorScan;
use crate::agents::seo::SeoAudit;
use crate::domain::receiver::UrlPolicy;

/// The agents by kind; cheap to clone.
#[derive(Clone)]
pub struct Catalogue(Arc<[Arc<dyn Agent>]>);

/// Two agents have the same kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KindTaken(pub String);

impl Catalogue {
    /// The agents that come with the daemon, taking the pages that `targets` allows.
    #[must_use]
    pub fn built_in(targets: UrlPolicy) -> Self {
        let agents: [Arc<dyn Agent>; 2] =
            [Arc::new(SeoAudit::new(targets)), Arc::new(CompetitorScan::new(targets))];
        Self(Arc::new(agents))
    }

    /// The same agents and `more` after them.
    ///
    /// # Errors
    ///
    /// [`KindTaken`] when a kind would exist twice.
    pub fn with(&self, more: Vec<Arc<dyn Agent>>) -> Result<Self, KindTaken> {
        let mut agents = self.0.to_vec();
        for agent in more {
            let kind = &agent.entry().kind;
            if agents.iter().any(|it| it.entry().kind == *kind) {
                return Err(KindTaken(kind.clone()));
            }
            agents.push(agent);
        }
        Ok(Self(agents.into()))
    }

    /// The agent of this kind.
    #[must_use]
    pub fn find(&self, kind: &str) -> Option<&Arc<dyn Agent>> {
        self.0.iter().find(|it| it.entry().kind == kind)
    }

    /// What the catalogue shows of every agent.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.0.iter().map(|it| it.entry())
    }
}

impl fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries().map(|it| &it.kind)).finish()
    }
}

impl fmt::Display for KindTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the kind {} exists already", self.0)
    }
}

impl std::error::Error for KindTaken {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_keep_their_order_and_exist_once() {
        let catalogue = Catalogue::built_in(UrlPolicy::Public);
        let kinds: Vec<_> = catalogue.entries().map(|it| it.kind.as_str()).collect();
        assert_eq!(kinds, ["seo_audit", "competitor_scan"]);
        assert!(catalogue.find("seo_audit").is_some());
        assert!(catalogue.find("SEO_AUDIT").is_none());
        let twice = catalogue.with(vec![Arc::new(SeoAudit::new(UrlPolicy::Public))]);
        assert_eq!(twice.map(|_| ()), Err(KindTaken("seo_audit".to_owned())));
    }
}
