//! What stands at the head of the column and of the row of every cell of a page's tables.

use std::collections::HashMap;

use html5ever::{LocalName, local_name};

use crate::agents::page::text::{push_squeezed, squeeze};
use crate::agents::page::tree::{Node, NodeId, NodeKind, Tree};
use crate::agents::page::walk::Visit;

/// The place of a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// Its table.
    pub table: usize,
    /// The number of its column.
    pub number: usize,
    /// The text at the head of its column.
    pub column: String,
    /// The text at the head of its row.
    pub row: String,
    /// Whether it is a head itself.
    pub is_head: bool,
}

/// The cells of a page's tables, by their elements.
#[must_use]
pub fn cells(tree: &Tree) -> HashMap<NodeId, Cell> {
    let mut cells = HashMap::new();
    let mut tables: usize = 0;
    for visit in tree.walk(NodeId::DOCUMENT) {
        if let Visit::Enter(id) = visit
            && is(tree, id, &local_name!("table"))
            && tables < TABLES_MAX
        {
            read_table(tree, id, tables, &mut cells);
            tables += 1;
        }
    }
    cells
}

fn read_table(tree: &Tree, table: NodeId, number: usize, cells: &mut HashMap<NodeId, Cell>) {
    let mut heads: Vec<String> = Vec::new();
    for (index, row) in rows(tree, table).into_iter().take(ROWS_MAX).enumerate() {
        let in_row: Vec<NodeId> = tree.children(row).filter(|it| is_cell(tree, *it)).collect();
        let all_heads = in_row.iter().all(|it| is(tree, *it, &local_name!("th")));
        let is_head_row = index == 0 && (all_heads || is_in_head(tree, row)) && in_row.len() > 1;
        let mut first = String::new();
        let mut column: usize = 0;
        for (position, id) in in_row.into_iter().take(COLUMNS_MAX).enumerate() {
            let text = text_of(tree, id);
            let width = span(tree.node(id));
            if is_head_row {
                heads.extend(std::iter::repeat_n(text.clone(), width));
            } else if position == 0 {
                first.clone_from(&text);
            }
            let cell = Cell {
                table: number,
                number: column,
                column: heads.get(column).cloned().unwrap_or_default(),
                row: if position == 0 { String::new() } else { first.clone() },
                is_head: is_head_row || position == 0,
            };
            cells.insert(id, cell);
            column += width;
        }
    }
}

/// The rows of a table, without those of tables inside it.
fn rows(tree: &Tree, table: NodeId) -> Vec<NodeId> {
    let mut rows = Vec::new();
    for child in tree.children(table) {
        if is(tree, child, &local_name!("tr")) {
            rows.push(child);
        } else {
            rows.extend(tree.children(child).filter(|it| is(tree, *it, &local_name!("tr"))));
        }
    }
    rows
}

fn is_in_head(tree: &Tree, row: NodeId) -> bool {
    tree.parent(row).is_some_and(|it| is(tree, it, &local_name!("thead")))
}

fn is_cell(tree: &Tree, id: NodeId) -> bool {
    is(tree, id, &local_name!("td")) || is(tree, id, &local_name!("th"))
}

fn is(tree: &Tree, id: NodeId, name: &LocalName) -> bool {
    tree.node(id).and_then(Node::html_name) == Some(name)
}

/// Columns that a cell takes.
fn span(node: Option<&Node>) -> usize {
    let written = node.and_then(|it| it.attribute("colspan")?.trim().parse().ok());
    written.unwrap_or(1).clamp(1, COLUMNS_MAX)
}

/// The text inside an element, one line, not endless.
#[must_use]
pub fn text_of(tree: &Tree, id: NodeId) -> String {
    let mut out = String::new();
    for visit in tree.walk(id) {
        let Visit::Enter(inside) = visit else { continue };
        if let Some(NodeKind::Text(text)) = tree.node(inside).map(|it| &it.kind) {
            push_squeezed(&mut out, " ");
            push_squeezed(&mut out, text);
        }
        if out.len() > TEXT_BYTES_MAX {
            break;
        }
    }
    squeeze(&out)
}

/// Tables of a page.
const TABLES_MAX: usize = 50;
/// Rows of a table.
const ROWS_MAX: usize = 200;
/// Columns of a table.
const COLUMNS_MAX: usize = 30;
/// Bytes of the text of a cell.
const TEXT_BYTES_MAX: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents::page::media::Kind;
    use crate::agents::page::parse::parse;
    use crate::agents::parsers::Patience;

    #[test]
    fn a_cell_knows_the_heads_of_its_column_and_row() {
        let html = "<table><thead><tr><th></th><th>Hobby<th colspan=2>Pro</tr></thead>\
                    <tr><td>Fee</td><td>$0<td>$20<td>$200</table>";
        let tree = parse(html, Kind::Html, &Patience::endless()).passed.tree;
        let mut found: Vec<_> = cells(&tree).into_iter().collect();
        found.sort_by_key(|it| it.0);
        let shown: Vec<_> =
            found.iter().skip(3).map(|(_, it)| (it.column.as_str(), it.row.as_str())).collect();
        assert_eq!(shown, [("", ""), ("Hobby", "Fee"), ("Pro", "Fee"), ("Pro", "Fee")]);
    }
}
