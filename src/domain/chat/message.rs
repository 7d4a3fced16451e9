//! One message of a conversation: who says what, in text.
//!
//! Text in parts is joined with line breaks, because some servers would take each part for a
//! message of its own. Pictures, sound, files and tools are refused.

use std::fmt;

use serde_json::{Map, Value};

use crate::domain::chat::fields::Fields;
use crate::domain::chat::refusal::{Problem, Refusal};

/// One message; its text does not show in a log.
#[derive(Clone, PartialEq, Eq)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What; never with a NUL in it.
    pub text: String,
}

/// Who says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The one who set the conversation up; `developer` is the same.
    System,
    /// The one who asks.
    User,
    /// The model.
    Assistant,
}

impl Message {
    /// Reads the messages of a request, and adds the names of what is ignored to `ignored`.
    pub(super) fn parse_all(
        found: Option<Vec<Value>>,
        ignored: &mut Vec<String>,
    ) -> Result<Vec<Self>, Refusal> {
        let refuse = |problem| Refusal::new("messages", problem);
        let items = found.ok_or_else(|| refuse(Problem::Missing))?;
        if items.is_empty() || items.len() > MESSAGES_MAX {
            return Err(refuse(Problem::Value("must have 1 to 1024 messages")));
        }
        let messages = items.into_iter().enumerate();
        messages.map(|(at, item)| Self::parse(at, item, ignored)).collect()
    }

    fn parse(at: usize, item: Value, ignored: &mut Vec<String>) -> Result<Self, Refusal> {
        let Value::Object(object) = item else {
            return Err(Refusal::new(&format!("messages[{at}]"), Problem::Type("an object")));
        };
        let path = format!("messages[{at}].");
        let mut fields = Fields::new(object, &path);
        let role = Role::parse(&fields.required_text("role")?)
            .map_err(|problem| fields.refuse("role", problem))?;
        for name in TOOLS {
            let is_asked = fields.any(name).is_some_and(|it| !is_empty_list(&it));
            if is_asked {
                return Err(fields.refuse(name, Problem::Unsupported));
            }
        }
        let text = match fields.any("content") {
            None => return Err(fields.refuse("content", Problem::Missing)),
            Some(Value::String(text)) => text,
            Some(Value::Array(parts)) => joined(&path, parts)?,
            Some(_) => {
                let problem = Problem::Type("a string or a list of text parts");
                return Err(fields.refuse("content", problem));
            }
        };
        if text.contains('\0') {
            return Err(fields.refuse("content", Problem::Value("must not have NUL in it")));
        }
        for name in WITHOUT_EFFECT {
            fields.any(name);
        }
        ignored.extend(fields.rest().map(|it| format!("messages[].{it}")));
        Ok(Self { role, text })
    }
}

impl Role {
    fn parse(text: &str) -> Result<Self, Problem> {
        match text {
            "system" | "developer" => Ok(Self::System),
            "user" => Ok(Self::User),
            "assistant" => Ok(Self::Assistant),
            "tool" | "function" => Err(Problem::Unsupported),
            _ => Err(Problem::Value("must be system, developer, user or assistant")),
        }
    }

    /// The word for it that every server knows.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} bytes)", self.role.as_str(), self.text.len())
    }
}

fn joined(path: &str, parts: Vec<Value>) -> Result<String, Refusal> {
    if parts.is_empty() {
        let param = format!("{path}content");
        return Err(Refusal::new(&param, Problem::Value("must have at least one part")));
    }
    let mut text = String::new();
    for (at, part) in parts.into_iter().enumerate() {
        if at > 0 {
            text.push('\n');
        }
        let path = format!("{path}content[{at}]");
        let Value::Object(part) = part else {
            return Err(Refusal::new(&path, Problem::Type("an object")));
        };
        text.push_str(&part_text(&path, part)?);
    }
    Ok(text)
}

fn part_text(path: &str, part: Map<String, Value>) -> Result<String, Refusal> {
    let path = format!("{path}.");
    let mut fields = Fields::new(part, &path);
    if fields.required_text("type")? != "text" {
        return Err(fields.refuse("type", Problem::ContentPart));
    }
    fields.required_text("text")
}

fn is_empty_list(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty)
}

/// Messages of one request. Source: the contract, section 5.
pub const MESSAGES_MAX: usize = 1024;
/// Members of a message that belong to tools and sound.
const TOOLS: [&str; 4] = ["tool_calls", "function_call", "tool_call_id", "audio"];
/// Members of a message that change nothing and are not sent on.
const WITHOUT_EFFECT: [&str; 2] = ["name", "refusal"];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(messages: Value) -> Result<Vec<Message>, Refusal> {
        let Value::Array(items) = messages else { panic!("a test gives a list") };
        Message::parse_all(Some(items), &mut Vec::new())
    }

    #[track_caller]
    fn check_text(messages: Value, role: Role, text: &str) {
        let found = parse(messages).unwrap();
        assert_eq!(found, [Message { role, text: text.to_owned() }]);
    }

    #[track_caller]
    fn check_refused(messages: Value, code: &str, param: &str) {
        let shown = messages.to_string();
        let refusal = parse(messages).expect_err(&shown);
        assert_eq!((refusal.code(), refusal.param.as_str()), (code, param), "{shown}");
    }

    #[test]
    fn every_role_of_a_text_conversation_is_taken_and_the_developer_is_the_system() {
        check_text(json!([{"role": "system", "content": "a"}]), Role::System, "a");
        check_text(json!([{"role": "developer", "content": "a"}]), Role::System, "a");
        check_text(json!([{"role": "user", "content": ""}]), Role::User, "");
        check_text(json!([{"role": "assistant", "content": "a"}]), Role::Assistant, "a");
        let null = json!([{"role": "user", "content": "a", "name": "n", "tool_calls": null}]);
        check_text(null, Role::User, "a");
        check_text(
            json!([{"role": "assistant", "content": "a", "tool_calls": []}]),
            Role::Assistant,
            "a",
        );
    }

    #[test]
    fn text_parts_are_joined_with_line_breaks() {
        let parts = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
        check_text(json!([{"role": "user", "content": parts}]), Role::User, "a\nb");
    }

    #[test]
    fn what_is_no_text_message_is_refused_where_it_stands() {
        let user = |content: Value| json!([{"role": "user", "content": content}]);
        check_refused(json!([]), "invalid_value", "messages");
        check_refused(json!(["hi"]), "invalid_type", "messages[0]");
        check_refused(json!([{"content": "a"}]), "missing_field", "messages[0].role");
        check_refused(json!([{"role": 1, "content": "a"}]), "invalid_type", "messages[0].role");
        check_refused(
            json!([{"role": "bot", "content": "a"}]),
            "invalid_value",
            "messages[0].role",
        );
        for role in ["tool", "function"] {
            let message = json!([{"role": role, "content": "a"}]);
            check_refused(message, "unsupported_parameter", "messages[0].role");
        }
        check_refused(json!([{"role": "user"}]), "missing_field", "messages[0].content");
        check_refused(user(Value::Null), "missing_field", "messages[0].content");
        check_refused(user(json!(7)), "invalid_type", "messages[0].content");
        check_refused(user(json!({})), "invalid_type", "messages[0].content");
        check_refused(user(json!([])), "invalid_value", "messages[0].content");
        check_refused(user(json!("a\0b")), "invalid_value", "messages[0].content");
        check_refused(user(json!(["a"])), "invalid_type", "messages[0].content[0]");
        check_refused(user(json!([{}])), "missing_field", "messages[0].content[0].type");
        let part = json!([{"type": "text", "text": "a"}, {"type": "text"}]);
        check_refused(user(part), "missing_field", "messages[0].content[1].text");
        let part = json!([{"type": "text", "text": 7}]);
        check_refused(user(part), "invalid_type", "messages[0].content[0].text");
        let calls = json!([{"role": "assistant", "content": "a", "tool_calls": [{}]}]);
        check_refused(calls, "unsupported_parameter", "messages[0].tool_calls");
        let audio = json!([{"role": "assistant", "content": "a", "audio": {"id": "x"}}]);
        check_refused(audio, "unsupported_parameter", "messages[0].audio");
    }

    #[test]
    fn pictures_sound_and_files_are_refused_by_the_place_of_their_type() {
        for kind in ["image_url", "input_audio", "file", "refusal", "video_url", ""] {
            let hello = json!({"role": "user", "content": "a"});
            let content = json!([{"type": kind, kind: {"url": "data:,"}}]);
            let messages = json!([hello, hello, {"role": "user", "content": content}]);
            check_refused(messages, "unsupported_content_part", "messages[2].content[0].type");
        }
    }

    #[test]
    fn a_conversation_has_at_most_1024_messages() {
        let messages = |count| vec![json!({"role": "user", "content": "a"}); count];
        assert_eq!(parse(json!(messages(1024))).unwrap().len(), 1024);
        check_refused(json!(messages(1025)), "invalid_value", "messages");
        let missing = Message::parse_all(None, &mut Vec::new()).unwrap_err();
        assert_eq!(missing.code(), "missing_field");
    }

    #[test]
    fn unknown_members_of_a_message_are_ignored_and_named() {
        let mut ignored = Vec::new();
        let item = json!({"role": "user", "content": "a", "weight": 1, "name": "n"});
        Message::parse_all(Some(vec![item]), &mut ignored).unwrap();
        assert_eq!(ignored, ["messages[].weight"]);
    }
}
