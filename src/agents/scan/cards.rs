//! Finds out to which plan or product a price belongs, and which blocks stand beside it.
//!
//! A card is the nearest element around a price that has a heading. Where cards repeat without
//! headings, the first short text of a card is its name; in a table it is the column or the row.

use std::collections::{BTreeSet, HashMap, HashSet};

use html5ever::local_name;

use crate::agents::page::tree::{NodeId, Tree};
use crate::agents::scan::boxes::is_price_list;
use crate::agents::scan::facts::{Offer, Origin, Zone};
use crate::agents::scan::outline::Block;
use crate::agents::scan::tables::Cell;
use crate::agents::scan::texts::Text;
use crate::agents::scan::token::words;

/// The cards of a page.
#[derive(Debug)]
pub struct Cards<'a> {
    tree: &'a Tree,
    blocks: &'a [(Block, Text)],
    cells: &'a HashMap<NodeId, Cell>,
    /// Headings inside an element: how many, and the first.
    headings: HashMap<NodeId, (usize, usize)>,
    /// Blocks with prices inside an element.
    prices: HashMap<NodeId, usize>,
    /// Columns of each table in which prices stand.
    columns: HashMap<usize, BTreeSet<usize>>,
    /// Elements that are cards, with their names.
    cards: HashMap<NodeId, String>,
    /// Elements that hold cards.
    lists: HashSet<NodeId>,
}

/// What a block is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The plan in whose card it stands.
    pub plan: Option<String>,
    /// The head of its row, where it has one.
    pub label: Option<String>,
    /// Whether it stands among prices.
    pub in_offer: bool,
}

impl<'a> Cards<'a> {
    /// Finds the cards.
    #[must_use]
    pub fn of(
        tree: &'a Tree,
        blocks: &'a [(Block, Text)],
        cells: &'a HashMap<NodeId, Cell>,
    ) -> Self {
        let mut cards = Self {
            tree,
            blocks,
            cells,
            headings: HashMap::new(),
            prices: HashMap::new(),
            columns: HashMap::new(),
            cards: HashMap::new(),
            lists: HashSet::new(),
        };
        cards.count();
        let priced: Vec<usize> = cards.priced().collect();
        for index in priced {
            if let Some((card, name)) = cards.card_of(index) {
                cards.cards.insert(card, name);
                cards.lists.extend(tree.parent(card).filter(|it| cards.is_inner(*it)));
            }
        }
        cards
    }

    fn priced(&self) -> impl Iterator<Item = usize> {
        let indexed = self.blocks.iter().enumerate();
        indexed.filter(|(_, it)| !it.1.prices.is_empty()).map(|it| it.0).take(COUNTED_MAX)
    }

    fn count(&mut self) {
        let headings = self.blocks.iter().enumerate().filter(|(_, it)| it.0.level().is_some());
        for (index, (block, _)) in headings.take(COUNTED_MAX) {
            for id in ancestors(self.tree, block.node) {
                let count = self.headings.entry(id).or_insert((0, index));
                count.0 += 1;
            }
        }
        for index in self.priced().collect::<Vec<_>>() {
            let Some((block, _)) = self.blocks.get(index) else { continue };
            for id in ancestors(self.tree, block.node) {
                *self.prices.entry(id).or_default() += 1;
                if let Some(cell) = self.cells.get(&id) {
                    self.columns.entry(cell.table).or_default().insert(cell.number);
                }
            }
        }
    }

    /// The card around a block with a price, and its name.
    fn card_of(&self, index: usize) -> Option<(NodeId, String)> {
        let (block, text) = self.blocks.get(index)?;
        let mut inside = block.node;
        for id in ancestors(self.tree, block.node).take_while(|it| self.is_inner(*it)) {
            if self.cells.contains_key(&id) {
                return None;
            }
            let own = self.prices.get(&inside).copied().unwrap_or_default();
            let all = self.prices.get(&id).copied().unwrap_or_default();
            // The next element around holds other prices too, so this is one of several cards.
            if all > own
                && let Some(name) = self.name_in(inside, index)
            {
                return Some((inside, name));
            }
            let Some((count, first)) = self.headings.get(&id) else {
                inside = id;
                continue;
            };
            if *count == 1 || block.level().is_some() {
                return self.shown(*first).map(|it| (id, it));
            }
            let before = |it: &usize| *it < index && self.is_inside(*it, id);
            let heads = (0..index).rev().filter(|it| self.is_heading(*it));
            let near = heads.take(HEADS_LOOKED_AT).find(before)?;
            return self.shown(near).map(|it| (inside, it));
        }
        if block.tag == local_name!("dd") && !block.label.is_empty() {
            return Some((block.node, block.label.clone()));
        }
        // No heading around it: a list of cards by itself, or a line with its own name.
        if self.prices.get(&inside).is_some_and(|it| *it == 1) {
            return self.name_in(inside, index).map(|it| (inside, it));
        }
        let line = text.before_price();
        (block.tag == local_name!("li") && words(&line) > 0).then_some((block.node, line))
    }

    /// The first short text without a price inside an element.
    fn name_in(&self, card: NodeId, priced: usize) -> Option<String> {
        let from = priced.saturating_sub(BLOCKS_LOOKED_AT);
        let near = self.blocks.iter().enumerate().skip(from).take(BLOCKS_LOOKED_AT * 2);
        let mut inside = near.filter(|(at, it)| {
            *at != priced && ancestors(self.tree, it.0.node).any(|it| it == card)
        });
        let (_, (_, text)) = inside.find(|(_, it)| it.1.prices.is_empty())?;
        let is_short = (1..=NAME_WORDS_MAX).contains(&words(&text.shown));
        is_short.then(|| text.shown.clone())
    }

    fn shown(&self, index: usize) -> Option<String> {
        self.blocks.get(index).map(|it| it.1.shown.clone())
    }

    fn is_heading(&self, index: usize) -> bool {
        self.blocks.get(index).is_some_and(|it| it.0.level().is_some())
    }

    fn is_inside(&self, index: usize, id: NodeId) -> bool {
        let node = self.blocks.get(index).map(|it| it.0.node);
        node.is_some_and(|it| ancestors(self.tree, it).any(|it| it == id))
    }

    /// Whether an element is not the page itself.
    fn is_inner(&self, id: NodeId) -> bool {
        let name = self.tree.node(id).and_then(|it| it.html_name());
        name.is_some_and(|it| {
            !matches!(*it, local_name!("html") | local_name!("body") | local_name!("main"))
        })
    }

    /// Whether the plans of a table are its columns, not its rows.
    fn has_plan_columns(&self, table: usize) -> bool {
        self.columns.get(&table).is_some_and(|it| it.len() >= 2)
    }

    /// What a block is for.
    #[must_use]
    pub fn place(&self, block: &Block) -> Place {
        let mut in_offer = false;
        for id in ancestors(self.tree, block.node).take(PLACE_STEPS_MAX) {
            if let Some(cell) = self.cells.get(&id) {
                return self.place_in_table(cell);
            }
            if let Some(plan) = self.cards.get(&id) {
                return Place { plan: Some(plan.clone()), label: None, in_offer: true };
            }
            in_offer |= self.lists.contains(&id);
            in_offer |= self.is_inner(id) && self.tree.node(id).is_some_and(is_price_list);
        }
        Place { in_offer, ..Place::default() }
    }

    fn place_in_table(&self, cell: &Cell) -> Place {
        let has_prices = self.columns.contains_key(&cell.table);
        let (plan, label) = if self.has_plan_columns(cell.table) {
            (&cell.column, &cell.row)
        } else {
            (&cell.row, &cell.column)
        };
        let plan = Some(plan.clone()).filter(|it| has_prices && !it.is_empty());
        Place { plan, label: Some(label.clone()), in_offer: has_prices }
    }

    /// The offers in the text.
    #[must_use]
    pub fn offers(&self) -> Vec<Offer> {
        let mut offers = Vec::new();
        for index in self.priced() {
            let Some((block, text)) = self.blocks.get(index) else { continue };
            let place = self.place(block);
            let label = place.label.unwrap_or_else(|| text.before_price());
            for price in text.prices.iter().take(PRICES_MAX) {
                let plan = place.plan.clone().unwrap_or_default();
                let mut price = price.clone();
                if price.period.is_none() {
                    let words = Text::of(&label);
                    price.period = words.key.split(' ').find_map(super::price::period_of);
                }
                offers.push(Offer { plan, label: label.clone(), price, origin: Origin::Text });
            }
        }
        offers
    }

    /// The names of the plans and products, each once.
    #[must_use]
    pub fn plans(&self) -> Vec<String> {
        let mut plans: Vec<String> = Vec::new();
        let mut add = |name: &str| {
            if !name.is_empty() && plans.len() < PLANS_MAX && !plans.iter().any(|it| it == name) {
                plans.push(name.to_owned());
            }
        };
        for (block, text) in self.blocks {
            let place = self.place(block);
            if block.zone == Zone::Footer {
                continue;
            }
            let cell = ancestors(self.tree, block.node).find_map(|it| self.cells.get(&it));
            match cell {
                Some(cell) if self.has_plan_columns(cell.table) => {
                    if cell.is_head && cell.row.is_empty() && cell.number > 0 {
                        add(&text.shown);
                    }
                }
                Some(_) if text.prices.is_empty() => {}
                Some(_) | None => add(place.plan.as_deref().unwrap_or_default()),
            }
        }
        plans
    }
}

/// The element itself and those around it.
fn ancestors(tree: &Tree, id: NodeId) -> impl Iterator<Item = NodeId> {
    std::iter::successors(Some(id), |it| tree.parent(*it)).take(STEPS_MAX)
}

/// Headings and prices that are counted.
const COUNTED_MAX: usize = 400;
/// Elements around a block that are looked at.
const STEPS_MAX: usize = 64;
/// Elements around a block that can say what it is for.
const PLACE_STEPS_MAX: usize = 12;
/// Headings before a price that are looked at.
const HEADS_LOOKED_AT: usize = 20;
/// Blocks before and after a price that can be its name.
const BLOCKS_LOOKED_AT: usize = 12;
/// Words of a name.
const NAME_WORDS_MAX: usize = 6;
/// Prices of one block.
const PRICES_MAX: usize = 10;
/// Plans and products of a page.
const PLANS_MAX: usize = 200;
