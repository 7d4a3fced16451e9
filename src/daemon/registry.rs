//! The models that are offered: those of the settings, those that need no network, and for a
//! developer those of the servers on this host.

use std::sync::Arc;

use crate::config::{self, ModelSettings};
use crate::daemon::local::found_here;
use crate::daemon::start_error::StartError;
use crate::domain::chat::Price;
use crate::models::{Model, Registry, Source, Upstream, offline_models};
use crate::outbound::{self, Dialer, Resolver, Trust, Upstreams};
use crate::sys::clock::Clock;

/// What leads to the upstreams.
pub(super) struct Way<'a> {
    pub(super) clock: &'a Clock,
    pub(super) resolver: &'a Arc<dyn Resolver>,
    pub(super) dialer: &'a Arc<dyn Dialer>,
    pub(super) trust: Trust,
}

/// Makes the registry. Looking for servers on this host takes a moment at most.
///
/// # Errors
///
/// [`StartError::Model`] names a model that stands twice, or a key file that cannot be used.
pub(super) async fn registry(way: Way<'_>, chat: &config::Chat) -> Result<Registry, StartError> {
    let Way { clock, resolver, dialer, trust } = way;
    let (resolver, dialer) = (Arc::clone(resolver), Arc::clone(dialer));
    let upstreams = Upstreams::new(clock.clone(), resolver, dialer, trust);
    let mut models = Vec::new();
    for settings in &chat.models {
        models.push(model(settings)?);
    }
    if chat.offers_offline {
        models.extend(offline_models(chat.label, Price::FREE));
    }
    if chat.discovers {
        for found in found_here(&upstreams, clock).await {
            // What the settings say of a model holds.
            if models.iter().all(|it| it.id != found.id) {
                models.push(found);
            }
        }
    }
    Registry::new(clock.clone(), upstreams, chat.texts, models)
        .map_err(|it| StartError::Model(it.to_string()))
}

/// A model of the settings, with the keys of its upstreams.
fn model(settings: &ModelSettings) -> Result<Model, StartError> {
    let mut upstreams = Vec::new();
    for upstream in &settings.upstreams {
        let bearer = upstream.key_file.as_ref().map(config::KeyFile::read).transpose();
        let bearer = bearer.map_err(|it| StartError::Model(it.to_string()))?;
        let (url, name) = (&upstream.base_url, &upstream.model);
        let made = Upstream::new(url, name, bearer, upstream.stream).map_err(|bad| {
            let why = outbound::Error::Url(bad);
            StartError::Model(format!("the model {}: base_url: {why}", settings.id))
        });
        upstreams.push(made?);
    }
    Ok(Model {
        id: settings.id.clone(),
        name: settings.name.clone(),
        owned_by: settings.owned_by.clone(),
        price: settings.price,
        sizes: settings.sizes,
        capabilities: settings.capabilities,
        times: settings.times,
        source: Source::Upstreams(upstreams),
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;
    use crate::config::{Config, Environment, Mode, Sources, load};
    use crate::domain::time::Timestamp;
    use crate::outbound::fake::Internet;

    /// The names of the models that are offered, or why there are none.
    async fn offered(internet: &Internet, chat: &config::Chat) -> Result<Vec<String>, String> {
        let clock = Clock::simulated(Timestamp::EPOCH);
        let resolver: Arc<dyn Resolver> = Arc::new(internet.clone());
        let dialer: Arc<dyn Dialer> = Arc::new(internet.clone());
        let trust = Trust::new(clock.clone(), b"").unwrap();
        let way = Way { clock: &clock, resolver: &resolver, dialer: &dialer, trust };
        let registry = registry(way, chat).await.map_err(|it| it.to_string())?;
        Ok(registry.list().map(|it| it.id.to_string()).collect())
    }

    fn chat_of(text: &str) -> config::Chat {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("errand.toml");
        std::fs::write(&path, text).unwrap();
        let environment = Environment::of(Path::new("/"), &[]);
        let sources = Sources {
            mode: Mode::Serve,
            environment: &environment,
            file: Some(path),
            flags: Vec::new(),
        };
        load(&sources).unwrap().config.chat
    }

    const OFFLINE: [&str; 3] = ["offline/echo", "offline/extract", "offline/lorem-stream"];

    #[tokio::test(start_paused = true)]
    async fn a_daemon_offers_what_the_settings_say_and_what_needs_no_network() {
        let text = "[[models]]\nid = \"ours\"\nfree = true\nbase_url = \"http://h.example/v1\"\n";
        let chat = chat_of(text);
        let found = offered(&Internet::new(), &chat).await.unwrap();
        assert_eq!(found, [OFFLINE.as_slice(), &["ours"]].concat());
        let chat = chat_of(&format!("[chat]\noffline_models = \"off\"\n{text}"));
        assert_eq!(offered(&Internet::new(), &chat).await.unwrap(), ["ours"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_file_that_is_not_there_is_told_with_its_place() {
        let text = "[[models]]\nid = \"ours\"\nfree = true\nbase_url = \"http://h.example/v1\"\n\
                    api_key_file = \"/no/file\"\n";
        let told = offered(&Internet::new(), &chat_of(text)).await.unwrap_err();
        assert!(told.contains("errand.toml:5: api_key_file: /no/file cannot be read"), "{told}");
    }

    #[tokio::test(start_paused = true)]
    async fn servers_on_this_host_are_asked_only_where_that_is_wanted() {
        let internet = Internet::new();
        let chat = config::Chat { discovers: true, ..config::Chat::default() };
        assert!(offered(&internet, &config::Chat::default()).await.unwrap().is_empty());
        assert!(internet.dialled().is_empty());
        assert!(offered(&internet, &chat).await.unwrap().is_empty());
        assert_eq!(internet.dialled().len(), 2);
        assert!(Config::dev("/data".into()).chat.discovers);
        assert!(!Config::serve("/data".into()).chat.discovers);
    }

    #[tokio::test(start_paused = true)]
    async fn what_the_settings_say_of_a_model_holds_over_what_was_found() {
        let internet = Internet::new();
        internet.serve("127.0.0.1:11434", async |mut stream| {
            let body = "{\"data\":[{\"id\":\"a\"},{\"id\":\"b\"}]}";
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
            let _ = stream.read(&mut [0; 1024]).await;
            let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
        });
        let text = "[chat]\noffline_models = \"off\"\n[[models]]\nid = \"ollama/a\"\nfree = true\n\
                    base_url = \"http://h.example/v1\"\n";
        let chat = config::Chat { discovers: true, ..chat_of(text) };
        assert_eq!(offered(&internet, &chat).await.unwrap(), ["ollama/a", "ollama/b"]);
    }
}
