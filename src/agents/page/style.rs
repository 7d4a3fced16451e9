//! The little of a `style` attribute that can be judged without a style sheet.

/// Whether the style hides its element from everybody.
#[must_use]
pub fn is_unseen(style: Option<&str>) -> bool {
    declarations(style).any(|(name, value)| match name.as_str() {
        "display" => value.starts_with("none"),
        "visibility" => value.starts_with("hidden") || value.starts_with("collapse"),
        _ => false,
    })
}

/// Whether the style gives the size, or the proportions that let a browser keep the place free.
#[must_use]
pub fn is_sized(style: Option<&str>) -> bool {
    let has = |wanted| declarations(style).any(|(name, value)| name == wanted && value != "auto");
    (has("width") && has("height")) || has("aspect-ratio")
}

/// Names and values, lower case.
fn declarations(style: Option<&str>) -> impl Iterator<Item = (String, String)> {
    let parts = style.unwrap_or_default().split(';').filter_map(|it| it.split_once(':'));
    parts.map(|(name, value)| [name, value].map(|it| it.trim().to_ascii_lowercase()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_attribute_says_is_believed() {
        assert!(is_unseen(Some("color: red; DISPLAY :none !important")));
        assert!(is_unseen(Some("visibility:hidden")));
        assert!(!is_unseen(Some("display:block;opacity:0")));
        assert!(!is_unseen(None));
        assert!(is_sized(Some("width:1px;height:2em")));
        assert!(is_sized(Some("aspect-ratio: 16 / 9")));
        assert!(!is_sized(Some("width:100%;height:auto")));
    }
}
