//! What stands between the tokenizer and the tree builder, and lets only so much through.
//!
//! The tree builder is correct and, on a hostile page, quadratic: every tag may look at all open
//! elements, and formatting elements multiply when they are misnested. Deeper than [`DEPTH_KEPT`]
//! elements the gate keeps back the tags that nest, as browsers flatten a page, and lets the
//! others through. When there are too many elements or attributes, or it takes too long, nothing
//! gets through any more.

use std::cell::Cell;

use html5ever::LocalName;
use html5ever::interface::TreeSink;
use html5ever::tokenizer::{
    EndTag, StartTag, Tag, TagKind, TagToken, Token, TokenSink, TokenSinkResult,
};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};

use crate::agents::page::elements::{is_void, may_stay_open, nests};
use crate::agents::page::media::Kind;
use crate::agents::page::sink::Sink;
use crate::agents::page::tree::{NodeId, Span, Tree};
use crate::agents::parsers::Patience;

/// Stands between the tokenizer and the tree builder.
pub struct Gate<'a> {
    builder: TreeBuilder<NodeId, Sink>,
    text: &'a str,
    kind: Kind,
    patience: Patience,
    /// Where the piece ends that is being read.
    position: Cell<usize>,
    /// Where the last tag, comment or document type ended.
    markup_end: Cell<usize>,
    tokens: Cell<usize>,
    /// Whether tags that nest are kept back.
    is_flat: Cell<bool>,
    /// Open elements that were kept back.
    kept_back: Cell<usize>,
    deepest: Cell<usize>,
    /// Whether a `</head>` was read before there was a body.
    head_is_closed: Cell<bool>,
    head_end: Cell<Option<HeadEnd>>,
    stopped: Cell<Option<Stop>>,
}

/// What made the `head` end although neither `</head>` nor `<body>` was written there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadEnd {
    /// The element; none when it was text.
    pub element: Option<String>,
    /// Where it stands.
    pub span: Span,
    /// Whether a `</head>` came later, so that the head was meant to go on.
    pub closed_later: bool,
}

/// Why a reader stopped before the end of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// More than [`ELEMENTS_MAX`] elements.
    Elements,
    /// More than [`ATTRIBUTES_MAX`] attributes in all, or too large ones.
    Attributes,
    /// Nested deeper than it should be possible.
    Depth,
    /// It took too long.
    Time,
}

/// What went through a gate.
#[derive(Debug)]
pub struct Passed {
    /// The nodes.
    pub tree: Tree,
    /// Whether browsers show the page in quirks mode.
    pub in_quirks_mode: bool,
    /// What made the `head` end.
    pub head_end: Option<HeadEnd>,
    /// Elements in the tree.
    pub elements: usize,
    /// The deepest nesting, elements that were kept back included.
    pub depth: usize,
    /// Why nothing went through in the end.
    pub stopped: Option<Stop>,
}

impl<'a> Gate<'a> {
    /// Makes a gate in front of an empty tree. `text` is what the tokenizer will read.
    #[must_use]
    pub fn new(text: &'a str, kind: Kind, patience: Patience) -> Self {
        let options = TreeBuilderOpts { scripting_enabled: true, ..TreeBuilderOpts::default() };
        Self {
            builder: TreeBuilder::new(Sink::default(), options),
            text,
            kind,
            patience,
            position: Cell::new(0),
            markup_end: Cell::new(0),
            tokens: Cell::new(0),
            is_flat: Cell::new(false),
            kept_back: Cell::new(0),
            deepest: Cell::new(0),
            head_is_closed: Cell::new(false),
            head_end: Cell::new(None),
            stopped: Cell::new(None),
        }
    }

    /// Whether anything still gets through.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.stopped.get().is_none()
    }

    /// Says that the tokenizer reads the text up to `end` now: up to a `>`, or for want of one.
    pub fn set_position(&self, end: usize) {
        self.position.set(end);
    }

    /// Closes the gate when the time is over.
    pub fn look_at_time(&self) {
        if self.is_open() && self.patience.is_over() {
            self.stopped.set(Some(Stop::Time));
        }
    }

    /// Hands out what went through.
    #[must_use]
    pub fn finish(self) -> Passed {
        let elements = self.builder.sink.elements();
        let (tree, in_quirks_mode) = self.builder.sink.finish();
        let (depth, stopped) = (self.deepest.get(), self.stopped.get());
        Passed { tree, in_quirks_mode, head_end: self.head_end.take(), elements, depth, stopped }
    }

    /// Closes the gate when a limit is passed; time is looked at now and then.
    fn look_at_limits(&self) {
        let sink = &self.builder.sink;
        let count = self.tokens.get().wrapping_add(1);
        self.tokens.set(count);
        if sink.elements() > ELEMENTS_MAX {
            self.stopped.set(Some(Stop::Elements));
        } else if sink.attributes() > ATTRIBUTES_MAX || sink.attribute_bytes() > ATTRIBUTE_BYTES_MAX
        {
            self.stopped.set(Some(Stop::Attributes));
        } else if sink.newest_depth() > DEPTH_MAX {
            self.stopped.set(Some(Stop::Depth));
        } else if count.is_multiple_of(TOKENS_BETWEEN_LOOKS) {
            self.look_at_time();
        }
    }

    /// Whether a tag is kept back because the page is too deep already.
    fn keeps_back(&self, tag: &Tag) -> bool {
        if !self.is_flat.get() || !nests(&tag.name) {
            return false;
        }
        if may_stay_open(&tag.name) || tag.self_closing {
            return true;
        }
        let open = self.kept_back.get();
        match tag.kind {
            StartTag => {
                let open = open.saturating_add(1);
                self.kept_back.set(open);
                self.note_depth(open.saturating_add(DEPTH_KEPT as usize));
                true
            }
            EndTag if open > 0 => {
                self.kept_back.set(open.saturating_sub(1));
                true
            }
            EndTag => {
                self.is_flat.set(false);
                false
            }
        }
    }

    fn note_depth(&self, depth: usize) {
        self.deepest.set(self.deepest.get().max(depth));
    }

    /// Where the tag that is complete now begins and ends.
    fn span_of(&self, tag: &Tag) -> Span {
        let end = self.position.get();
        let from = self.markup_end.replace(end);
        let source = self.text.as_bytes().get(from..end).unwrap_or_default();
        let opening: &[u8] = if tag.kind == StartTag { b"<" } else { b"</" };
        let begins_here = |at: &usize| {
            let rest = source.get(*at..).and_then(|it| it.strip_prefix(opening));
            let name = rest.and_then(|it| it.get(..tag.name.len()));
            name.is_some_and(|it| it.eq_ignore_ascii_case(tag.name.as_bytes()))
        };
        let brackets = source.iter().enumerate().filter(|(_, it)| **it == b'<');
        let start = brackets.map(|(at, _)| at).find(begins_here).unwrap_or(0);
        Span { start: from.saturating_add(start), end }
    }

    /// Hands a tag on and notes what it did.
    fn pass_tag(&self, tag: Tag, line: u64, span: Span) -> TokenSinkResult<NodeId> {
        let (kind, name): (TagKind, LocalName) = (tag.kind, tag.name.clone());
        let had_body = self.builder.sink.has_body();
        let is_head_end = kind == EndTag && &*name == "head";
        if is_head_end && had_body {
            let noted = self.head_end.take();
            self.head_end.set(noted.map(|it| HeadEnd { closed_later: true, ..it }));
        } else if is_head_end {
            self.head_is_closed.set(true);
        }
        let result = self.pass(TagToken(tag), line, span);
        let is_body = matches!(&*name, "body" | "frameset");
        if !had_body && self.builder.sink.has_body() && !is_body {
            self.note_head_end(Some(&name), span);
        }
        result
    }

    /// Hands a token on.
    fn pass(&self, token: Token, line: u64, span: Span) -> TokenSinkResult<NodeId> {
        let sink = &self.builder.sink;
        sink.set_token(span);
        let result = self.builder.process_token(token, line);
        let depth = sink.newest_depth();
        self.note_depth(depth as usize);
        if depth >= DEPTH_KEPT {
            self.is_flat.set(true);
        }
        result
    }

    fn pass_text(&self, token: Token, line: u64) -> TokenSinkResult<NodeId> {
        let (from, end) = (self.markup_end.get(), self.position.get());
        let text = self.text.get(from..end).unwrap_or_default();
        let blank = text.len().saturating_sub(text.trim_ascii_start().len());
        let span = Span { start: from.saturating_add(blank), end };
        let had_body = self.builder.sink.has_body();
        let result = self.pass(token, line, span);
        if !had_body && self.builder.sink.has_body() {
            self.note_head_end(None, span);
        }
        result
    }

    fn note_head_end(&self, element: Option<&LocalName>, span: Span) {
        if !self.head_is_closed.get() {
            let element = element.map(ToString::to_string);
            self.head_end.set(Some(HeadEnd { element, span, closed_later: false }));
        }
    }
}

impl TokenSink for Gate<'_> {
    type Handle = NodeId;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<NodeId> {
        self.look_at_limits();
        if !self.is_open() {
            return TokenSinkResult::Continue;
        }
        match token {
            TagToken(tag) => {
                let span = self.span_of(&tag);
                if self.keeps_back(&tag) {
                    return TokenSinkResult::Continue;
                }
                if self.kind == Kind::Xhtml && is_empty_element(&tag) {
                    // XHTML means it: there is no content, and no text mode begins.
                    let closing =
                        Tag { kind: EndTag, attrs: vec![], self_closing: false, ..tag.clone() };
                    let _ = self.pass_tag(tag, line, span);
                    let _ = self.pass_tag(closing, line, span);
                    return TokenSinkResult::Continue;
                }
                self.pass_tag(tag, line, span)
            }
            Token::CommentToken(_) | Token::DoctypeToken(_) => {
                let end = self.position.get();
                let start = self.markup_end.replace(end);
                self.pass(token, line, Span { start, end })
            }
            Token::CharacterTokens(_) | Token::NullCharacterToken => self.pass_text(token, line),
            Token::EOFToken | Token::ParseError(_) => {
                let end = self.position.get();
                self.pass(token, line, Span { start: end, end })
            }
        }
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

fn is_empty_element(tag: &Tag) -> bool {
    tag.self_closing && tag.kind == StartTag && !is_void(&tag.name)
}

/// Elements that a page may have.
pub const ELEMENTS_MAX: usize = 200_000;
/// Attributes that all elements of a page may have together.
pub const ATTRIBUTES_MAX: usize = 500_000;
/// Bytes of all values of attributes; formatting elements copy theirs when they are misnested.
const ATTRIBUTE_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Depth to which the tree is kept as written, as in Chromium.
pub const DEPTH_KEPT: u32 = 512;
/// Depth at which the gate closes, because keeping tags back did not help.
const DEPTH_MAX: u32 = 700;
/// Tokens between two looks at the time.
const TOKENS_BETWEEN_LOOKS: usize = 64;
