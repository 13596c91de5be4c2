//! The imports among the children of one module, and the cycles that they form.
//!
//! Everything below a child counts as the child: if `a::b` imports `c::d`, this is an arrow from
//! `a` to `c`. A module and its direct child may import each other. An import of a module further
//! above is upward.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::modules::tree::Tree;

/// An import of a sibling module, or of a module further above.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Arrow {
    pub(crate) from: Vec<String>,
    pub(crate) to: Vec<String>,
}

/// The cause of an arrow: the place of the first import, and all imported names.
#[derive(Debug)]
pub(crate) struct Cause {
    pub(crate) file: String,
    pub(crate) line: usize,
    pub(crate) names: BTreeSet<String>,
}

/// The arrows of a crate.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub(crate) arrows: BTreeMap<Arrow, Cause>,
    /// All modules except the root.
    modules: BTreeSet<Vec<String>>,
}

impl Arrow {
    /// Returns whether the arrow leads to a module above rather than to a sibling.
    pub(crate) fn is_upward(&self) -> bool {
        self.from.starts_with(&self.to)
    }
}

impl Graph {
    /// Builds the graph of `tree`.
    pub(crate) fn of(tree: &Tree) -> Self {
        let mut graph = Self::default();
        for (index, module) in tree.modules.iter().enumerate() {
            if !module.path.is_empty() {
                graph.modules.insert(module.path.clone());
            }
            for named in &module.named {
                for holder in tree.holders(index, &named.segments) {
                    let Some(arrow) = arrow(&module.path, &tree.modules[holder].path) else {
                        continue;
                    };
                    let cause = graph.arrows.entry(arrow).or_insert_with(|| Cause {
                        file: module.file.clone(),
                        line: named.line,
                        names: BTreeSet::new(),
                    });
                    cause.names.extend(named.segments.last().cloned());
                }
            }
        }
        graph
    }

    /// Returns the arrows that form cycles or lead upwards, each with a path back to its start.
    pub(crate) fn knotted(&self) -> BTreeMap<&Arrow, Vec<Vec<String>>> {
        self.arrows
            .keys()
            .filter_map(|arrow| {
                let back =
                    if arrow.is_upward() { Vec::new() } else { self.way(&arrow.to, &arrow.from)? };
                Some((arrow, back))
            })
            .collect()
    }

    /// Returns the shortest path from one sibling to another, including both ends.
    fn way(&self, from: &[String], to: &[String]) -> Option<Vec<Vec<String>>> {
        let mut ways = vec![vec![from.to_vec()]];
        let mut seen = BTreeSet::from([from.to_vec()]);
        while !ways.is_empty() {
            let mut longer = Vec::new();
            for way in ways {
                let end = way.last()?;
                if end == to {
                    return Some(way);
                }
                for next in self.below(end) {
                    if seen.insert(next.clone()) {
                        longer.push([way.clone(), vec![next.clone()]].concat());
                    }
                }
            }
            ways = longer;
        }
        None
    }

    /// Returns the siblings that `module` imports.
    fn below<'a>(&'a self, module: &'a [String]) -> impl Iterator<Item = &'a Vec<String>> {
        let arrows = self.arrows.keys();
        arrows
            .filter(move |arrow| arrow.from == module && !arrow.is_upward())
            .map(|arrow| &arrow.to)
    }

    /// Returns the cycles: sets of siblings that all reach each other.
    pub(crate) fn circles(&self) -> Vec<Vec<Vec<String>>> {
        let mut left: BTreeSet<_> = self
            .knotted()
            .into_keys()
            .filter(|arrow| !arrow.is_upward())
            .map(|a| &a.from)
            .collect();
        let mut circles = Vec::new();
        while let Some(first) = left.pop_first() {
            let reaches =
                |to: &&&Vec<String>| self.way(first, to).is_some() && self.way(to, first).is_some();
            let others: Vec<_> = left.iter().filter(reaches).copied().collect();
            left.retain(|module| !others.contains(module));
            circles.push([vec![first.clone()], others.into_iter().cloned().collect()].concat());
        }
        circles
    }

    /// Returns the graph as text: siblings in layers, each above its imports.
    pub(crate) fn to_text(&self) -> String {
        let mut levels: BTreeMap<&[String], Vec<&Vec<String>>> = BTreeMap::new();
        for module in &self.modules {
            levels.entry(&module[..module.len() - 1]).or_default().push(module);
        }
        let mut text = String::new();
        for (level, modules) in levels.into_iter().filter(|(_, modules)| modules.len() > 1) {
            let place = if level.is_empty() { "crate".to_owned() } else { level.join("::") };
            text.push_str(&format!("  {place}\n"));
            let mut rows: Vec<_> =
                modules.into_iter().map(|module| (self.floor(module), module)).collect();
            rows.sort_by_key(|(floor, module)| (std::cmp::Reverse(*floor), *module));
            for (floor, module) in rows {
                let below: Vec<_> = self.below(module).map(|to| last(to)).collect();
                let arrow = if below.is_empty() { "" } else { " → " };
                text.push_str(&format!("    {floor} {}{arrow}{}\n", last(module), below.join(" ")));
            }
        }
        text
    }

    /// Returns the length of the longest chain of imports below `module`. A cycle counts as one
    /// module.
    fn floor(&self, module: &[String]) -> usize {
        let beneath = self.below(module).filter(|below| self.way(below, module).is_none());
        beneath.map(|below| self.floor(below) + 1).max().unwrap_or(0)
    }
}

fn last(module: &[String]) -> &str {
    module.last().map_or("", String::as_str)
}

fn arrow(from: &[String], to: &[String]) -> Option<Arrow> {
    let common = from.iter().zip(to).take_while(|(left, right)| left == right).count();
    match (from.len() - common, to.len() - common) {
        // The module itself, a parent, or a descendant.
        (0 | 1, 0) | (0, _) => None,
        (_, 0) => Some(Arrow { from: from.to_vec(), to: to.to_vec() }),
        (_, _) => Some(Arrow { from: from[..=common].to_vec(), to: to[..=common].to_vec() }),
    }
}
