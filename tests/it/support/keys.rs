//! Keys that the operator has restricted.

use errand::inbound::Peer;
use errand::sys::host;
use serde_json::{Value, json};

use super::{House, Reply};

impl House {
    /// Asks the operator's API.
    pub async fn operate(&self, path: &str, body: Value) -> Reply {
        self.admin(Peer::Local { uid: host::uid() }).ask("POST", path, Some(body)).await
    }

    /// A key of the house with both rights and restrictions, and its id.
    pub async fn restricted(&self, restrictions: Value) -> (String, String) {
        let mut body = json!({
            "account": self.account.to_string(), "name": "bound", "rights": ["models", "agents"],
        });
        let fields = restrictions.as_object().unwrap().clone();
        body.as_object_mut().unwrap().extend(fields);
        let made = self.operate("/keys", body).await;
        assert_eq!(made.status, 201, "{}", made.raw);
        let text = |name: &str| made.json()[name].as_str().unwrap().to_owned();
        (text("key"), text("id"))
    }

    /// Changes what a key is restricted to; the key as the operator sees it then.
    pub async fn restrict(&self, id: &str, change: Value) -> Value {
        let reply = self.operate(&format!("/keys/{id}/update"), change).await;
        assert_eq!(reply.status, 200, "{}", reply.raw);
        reply.json()
    }
}
