//! Whether an XHTML document is well-formed XML, because browsers show nothing of one that is not.
//!
//! One pass over the text with a list of open names, no recursion, no entity is ever expanded.
//! It checks what authors get wrong: nesting, attributes, references, the single root. It does
//! not validate, and reads a document type only to skip it.

/// Why a text is not well-formed, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The byte offset of the mistake.
    pub at: usize,
    /// What it is, as a sentence.
    pub problem: &'static str,
}

/// Checks a whole document.
///
/// # Errors
///
/// [`Malformed`] for the first mistake.
pub fn check(text: &str) -> Result<(), Malformed> {
    let mut reader = Reader { text, at: 0, open: Vec::new(), has_root: false, has_names: false };
    if text.starts_with("<?xml") {
        reader.skip_past("?>", "The XML declaration does not end.")?;
    }
    while reader.at < text.len() {
        reader.step()?;
    }
    match (reader.open.last(), reader.has_root) {
        (Some(_), _) => Err(reader.fail("An element is not closed at the end of the document.")),
        (None, false) => Err(reader.fail("The document has no element.")),
        (None, true) => Ok(()),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    open: Vec<&'a str>,
    has_root: bool,
    /// Whether the document type may define names for characters, as that of XHTML does.
    has_names: bool,
}

type Step = Result<(), Malformed>;

impl<'a> Reader<'a> {
    /// Reads one piece of markup or one run of text.
    fn step(&mut self) -> Step {
        let rest = self.rest();
        if rest.starts_with("<!--") {
            self.comment()
        } else if rest.starts_with("<![CDATA[") {
            self.inside_root()?;
            self.skip_past("]]>", "A CDATA section does not end.")
        } else if rest.starts_with("<?") {
            self.skip_past("?>", "A processing instruction does not end.")
        } else if rest.starts_with("<!DOCTYPE") {
            self.doctype()
        } else if rest.starts_with("</") {
            self.end_tag()
        } else if rest.starts_with('<') {
            self.start_tag()
        } else {
            self.characters()
        }
    }

    fn comment(&mut self) -> Step {
        let inner = self.rest().get(4..).unwrap_or_default();
        let end = inner.find("--").ok_or(self.fail("A comment does not end."))?;
        if inner.get(end..).is_some_and(|it| it.starts_with("-->")) {
            self.advance(end.saturating_add(7));
            return Ok(());
        }
        Err(self.fail("A comment contains two hyphens."))
    }

    fn doctype(&mut self) -> Step {
        if self.has_root {
            return Err(self.fail("The document type stands after the first element."));
        }
        let rest = self.rest();
        let subset = rest.find('[').filter(|at| rest.find('>').is_some_and(|end| *at < end));
        self.has_names = true;
        if subset.is_some() {
            self.skip_past("]", "The document type does not end.")?;
        }
        self.skip_past(">", "The document type does not end.")
    }

    fn start_tag(&mut self) -> Step {
        let begin = self.at;
        self.advance(1);
        let name =
            self.name().ok_or(Malformed { at: begin, problem: "A `<` begins no element." })?;
        if self.open.is_empty() && self.has_root {
            return Err(Malformed {
                at: begin,
                problem: "There is more than one outermost element.",
            });
        }
        self.has_root = true;
        let mut seen: Vec<&str> = Vec::new();
        loop {
            let spaced = self.skip_space();
            if self.eat("/>") {
                return Ok(());
            }
            if self.eat(">") {
                if self.open.len() >= DEPTH_MAX {
                    return Err(self.fail("Elements are nested too deeply to be checked."));
                }
                self.open.push(name);
                return Ok(());
            }
            if !spaced {
                return Err(self.fail("A space is missing before an attribute."));
            }
            let attribute = self.attribute()?;
            if seen.contains(&attribute) || seen.len() >= ATTRIBUTES_MAX {
                return Err(self.fail("An attribute is given twice."));
            }
            seen.push(attribute);
        }
    }

    fn attribute(&mut self) -> Result<&'a str, Malformed> {
        let name = self.name().ok_or(self.fail("A tag is not closed with `>`."))?;
        self.skip_space();
        if !self.eat("=") {
            return Err(self.fail("An attribute has no value."));
        }
        self.skip_space();
        let Some(quote @ ('"' | '\'')) = self.rest().chars().next() else {
            return Err(self.fail("The value of an attribute is not in quotes."));
        };
        self.advance(1);
        let end = self.rest().find(quote).ok_or(self.fail("A quote does not end."))?;
        let value = self.rest().get(..end).unwrap_or_default();
        if let Some(at) = value.find('<') {
            self.advance(at);
            return Err(self.fail("The value of an attribute contains `<`."));
        }
        self.references(value)?;
        self.advance(end.saturating_add(1));
        Ok(name)
    }

    fn end_tag(&mut self) -> Step {
        let begin = self.at;
        self.advance(2);
        let name = self.name();
        self.skip_space();
        if !self.eat(">") {
            return Err(Malformed { at: begin, problem: "A closing tag does not end." });
        }
        match (self.open.pop(), name) {
            (Some(open), Some(name)) if open == name => Ok(()),
            (Some(_), _) => Err(Malformed {
                at: begin,
                problem: "The closing tag is not that of the open element.",
            }),
            (None, _) => {
                Err(Malformed { at: begin, problem: "There is no open element to close." })
            }
        }
    }

    fn characters(&mut self) -> Step {
        let rest = self.rest();
        let end = rest.find('<').unwrap_or(rest.len());
        let run = rest.get(..end).unwrap_or_default();
        if !run.trim_ascii().is_empty() {
            self.inside_root()?;
        }
        if let Some(at) = run.find("]]>") {
            self.advance(at);
            return Err(self.fail("Text contains `]]>`."));
        }
        self.references(run)?;
        self.advance(end);
        Ok(())
    }

    /// Checks the references in `run`, which begins where the reader is.
    fn references(&self, run: &str) -> Step {
        let mut from: usize = 0;
        while let Some(found) = run.get(from..).and_then(|it| it.find('&')) {
            let at = from.saturating_add(found);
            let name = run.get(at.saturating_add(1)..).unwrap_or_default();
            let end = name.bytes().take(NAME_BYTES_MAX).position(|it| it == b';');
            let name = end.and_then(|it| name.get(..it)).unwrap_or_default();
            let is_number = name.strip_prefix('#').is_some_and(is_character_number);
            let is_name = PREDEFINED.contains(&name) || (self.has_names && is_plain_name(name));
            if !is_number && !is_name {
                let problem = "A `&` begins no reference; write `&amp;`.";
                return Err(Malformed { at: self.at.saturating_add(at), problem });
            }
            from = at.saturating_add(1);
        }
        Ok(())
    }

    fn inside_root(&self) -> Step {
        if self.open.is_empty() {
            return Err(self.fail("There is text outside the outermost element."));
        }
        Ok(())
    }

    fn name(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let is_end = |it: char| it.is_whitespace() || "/>=<&\"'".contains(it);
        let name = rest.get(..rest.find(is_end)?)?;
        let starts_well =
            name.starts_with(|it: char| it.is_alphabetic() || matches!(it, '_' | ':'));
        self.advance(name.len());
        starts_well.then_some(name)
    }

    fn skip_space(&mut self) -> bool {
        let rest = self.rest();
        let space = rest.len().saturating_sub(rest.trim_ascii_start().len());
        self.advance(space);
        space > 0
    }

    fn skip_past(&mut self, end: &str, problem: &'static str) -> Step {
        let found = self.rest().find(end).ok_or(self.fail(problem))?;
        self.advance(found.saturating_add(end.len()));
        Ok(())
    }

    fn eat(&mut self, wanted: &str) -> bool {
        let is_there = self.rest().starts_with(wanted);
        if is_there {
            self.advance(wanted.len());
        }
        is_there
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    const fn advance(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes);
    }

    const fn fail(&self, problem: &'static str) -> Malformed {
        Malformed { at: self.at, problem }
    }
}

/// Whether `text` is a number as in `&#233;` or `&#xe9;`.
fn is_character_number(text: &str) -> bool {
    let (digits, is_digit): (&str, fn(&u8) -> bool) = match text.strip_prefix('x') {
        Some(digits) => (digits, u8::is_ascii_hexdigit),
        None => (text, u8::is_ascii_digit),
    };
    !digits.is_empty() && digits.as_bytes().iter().all(is_digit)
}

fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric())
}

/// The names that every XML document has.
const PREDEFINED: [&str; 5] = ["amp", "lt", "gt", "quot", "apos"];
/// Open elements, so that a hostile page cannot make the list large.
const DEPTH_MAX: usize = 20_000;
/// Attributes of one element, so that looking for a double one stays short.
const ATTRIBUTES_MAX: usize = 500;
/// Bytes of the name in a reference.
const NAME_BYTES_MAX: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check_text(text: &str, mistake_at: Option<usize>) {
        assert_eq!(check(text).err().map(|it| it.at), mistake_at, "{text:?}: {:?}", check(text));
    }

    #[test]
    fn well_formed_documents_pass() {
        check_text("<a/>", None);
        check_text(
            "<?xml version='1.0'?>\n<!DOCTYPE html>\n<!-- c -->\
             <a b='1' c=\"2\">x<d />&amp;&#233;&#xE9;</a>\n",
            None,
        );
        check_text(
            "<!DOCTYPE html PUBLIC \"-//W3C//DTD\" \"http://x\" [<!ENTITY y 'z'>]><a>&nbsp;</a>",
            None,
        );
        check_text("<a><![CDATA[ <b> & ]]><?pi x?></a >", None);
        check_text("<a:b xml:lang='en'>é</a:b>", None);
    }

    #[test]
    fn each_mistake_is_found_where_it_is() {
        check_text("", Some(0));
        check_text("<a>", Some(3));
        check_text("<a><br></a>", Some(7));
        check_text("</a>", Some(0));
        check_text("<a/><b/>", Some(4));
        check_text("<a/>text", Some(4));
        check_text("<a b=1/>", Some(5));
        check_text("<a b/>", Some(4));
        check_text("<a b='1' b='2'/>", Some(14));
        check_text("<a b='1'c='2'/>", Some(8));
        check_text("<a>1 < 2</a>", Some(5));
        check_text("<a>&nbsp;</a>", Some(3));
        check_text("<a>fish & chips</a>", Some(8));
        check_text("<a b='x&y'/>", Some(7));
        check_text("<a b='<'/>", Some(6));
        check_text("<a><!-- a -- b --></a>", Some(3));
        check_text("<a", Some(0));
        check_text("<a>&#;</a>", Some(3));
        check_text("<a>&#xg;</a>", Some(3));
        check_text("<a><![CDATA[</a>", Some(3));
    }

    #[test]
    fn hostile_documents_end_quickly() {
        assert!(check(&"<a>".repeat(300_000)).is_err());
        let many: String = (0..60_000).map(|it| format!(" a{it}='1'")).collect();
        assert!(check(&format!("<a{many}/>")).is_err());
        assert!(check(&format!("<a>{}</a>", "&".repeat(300_000))).is_err());
        assert!(check(&format!("<a>{}</a>", "&amp;".repeat(300_000))).is_ok());
    }

    proptest! {
        #[test]
        fn any_text_is_read_to_an_end(text in "([<>/!?&;='\"a-c \\[\\]-]|<!--|-->|é){0,60}") {
            let _ = check(&text);
        }
    }
}
