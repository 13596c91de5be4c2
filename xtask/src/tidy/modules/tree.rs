//! The modules of one crate and the paths that they name, read from the text of the files.
//!
//! Test code is skipped: tests may import anything. Paths come from `use` items, types,
//! expressions, patterns, attributes and the tokens of macros. A method call names no path, so it
//! is not seen.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{Item, Meta, UseTree, visit::Visit};

use crate::tidy::lexer::RustFile;

/// The modules of a crate. The first one is its root.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) modules: Vec<Module>,
}

/// A module that is compiled into the product.
#[derive(Debug, Default)]
pub(crate) struct Module {
    /// `a` and `b` for the module `crate::a::b`. Empty for the root.
    pub(crate) path: Vec<String>,
    pub(crate) file: String,
    pub(crate) parent: Option<usize>,
    pub(crate) children: BTreeMap<String, usize>,
    /// The names that `use` items introduce, each with its full path.
    aliases: BTreeMap<String, Vec<String>>,
    pub(crate) named: Vec<Named>,
}

/// A path and its line.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) line: usize,
    pub(crate) segments: Vec<String>,
}

impl Tree {
    /// Reads the crate whose root is the file `root`.
    pub(crate) fn read(root: &str, files: &BTreeMap<&str, &RustFile>) -> Self {
        let mut tree = Self::default();
        let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
        tree.add_file(root, folder, Vec::new(), None, files);
        tree
    }

    fn add_file(
        &mut self,
        file: &str,
        folder: &str,
        path: Vec<String>,
        parent: Option<usize>,
        files: &BTreeMap<&str, &RustFile>,
    ) -> Option<usize> {
        let parsed = syn::parse_file(&files.get(file)?.text).ok()?;
        Some(self.add(&parsed.items, Place { file, folder, path, parent }, files))
    }

    fn add(
        &mut self,
        items: &[Item],
        place: Place<'_>,
        files: &BTreeMap<&str, &RustFile>,
    ) -> usize {
        let mut reader = Reader::default();
        for item in items.iter().filter(|item| !matches!(item, Item::Mod(_))) {
            reader.visit_item(item);
        }
        let index = self.modules.len();
        self.modules.push(Module {
            path: place.path.clone(),
            file: place.file.to_owned(),
            parent: place.parent,
            children: BTreeMap::new(),
            aliases: reader.aliases,
            named: reader.named,
        });
        for item in items {
            let Item::Mod(module) = item else { continue };
            if is_test(&module.attrs) {
                continue;
            }
            let name = module.ident.to_string();
            let folder = format!("{}/{name}", place.folder);
            let path = [place.path.clone(), vec![name.clone()]].concat();
            let parent = Some(index);
            let child = match &module.content {
                Some((_, items)) => {
                    let place = Place { file: place.file, folder: &folder, path, parent };
                    Some(self.add(items, place, files))
                }
                None => {
                    let own = place.file.rsplit_once('/').map_or("", |(folder, _)| folder);
                    let file = path_attribute(&module.attrs)
                        .map_or_else(|| format!("{folder}.rs"), |file| format!("{own}/{file}"));
                    self.add_file(&file, &folder, path, parent, files)
                }
            };
            if let Some(child) = child {
                // If a module has two files, one for each system, both count. A lookup by name
                // finds the first.
                self.modules[index].children.entry(name).or_insert(child);
            }
        }
        index
    }

    /// Returns the modules that the path `segments`, named in the module `from`, refers to: the
    /// module that defines the item, and every module that re-exports it. Empty for items of other
    /// crates.
    pub(crate) fn holders(&self, from: usize, segments: &[String]) -> Vec<usize> {
        let mut holders = Vec::new();
        self.follow(from, segments, &mut holders, 0);
        holders
    }

    /// Returns the module at the end of the path. None if the path does not name a module.
    fn follow(
        &self,
        from: usize,
        segments: &[String],
        holders: &mut Vec<usize>,
        depth: usize,
    ) -> Option<usize> {
        // Cyclic `use` items are not valid Rust. The limit ends the recursion on invalid input.
        if depth > 16 {
            return None;
        }
        let (first, mut rest) = segments.split_first()?;
        let module = &self.modules[from];
        let mut at = match first.as_str() {
            "crate" => 0,
            "self" => from,
            "super" => module.parent?,
            name => match (module.children.get(name), module.aliases.get(name)) {
                (Some(child), _) => *child,
                (None, Some(alias)) if alias != segments => {
                    self.follow(from, alias, holders, depth + 1)?
                }
                (None, Some(_) | None) => return None,
            },
        };
        while let Some((name, further)) = rest.split_first() {
            rest = further;
            let module = &self.modules[at];
            at = match (name.as_str(), module.children.get(name), module.aliases.get(name)) {
                ("super", _, _) => module.parent?,
                ("self", _, _) => at,
                (_, Some(child), _) => *child,
                (_, None, Some(alias)) => {
                    holders.push(at);
                    self.follow(at, alias, holders, depth + 1)?
                }
                (_, None, None) => {
                    holders.push(at);
                    return None;
                }
            };
        }
        holders.push(at);
        Some(at)
    }
}

/// The place of a module's items.
struct Place<'a> {
    file: &'a str,
    /// The folder of its child modules.
    folder: &'a str,
    path: Vec<String>,
    parent: Option<usize>,
}

/// Collects the paths that the items of one module name.
#[derive(Default)]
struct Reader {
    aliases: BTreeMap<String, Vec<String>>,
    named: Vec<Named>,
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_test(attributes(item)) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, method: &'ast syn::ImplItemFn) {
        if !is_test(&method.attrs) {
            syn::visit::visit_impl_item_fn(self, method);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        // A path with a leading `::` begins with another crate.
        if item.leading_colon.is_none() {
            self.branch(&item.tree, &[]);
        }
    }

    /// Skips `pub(crate)`, which restricts visibility and imports nothing.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let (None, Some(first)) = (&path.leading_colon, path.segments.first()) {
            let line = first.ident.span().start().line;
            let segments = path.segments.iter().map(|segment| segment.ident.to_string());
            self.named.push(Named { line, segments: segments.collect() });
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        self.tokens(called.tokens.clone());
        syn::visit::visit_macro(self, called);
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if let Meta::List(list) = &attribute.meta {
            self.tokens(list.tokens.clone());
        }
    }
}

impl Reader {
    fn branch(&mut self, tree: &UseTree, prefix: &[String]) {
        let with = |name: &syn::Ident| match name.to_string() {
            own if own == "self" && !prefix.is_empty() => prefix.to_vec(),
            name => [prefix, &[name]].concat(),
        };
        match tree {
            UseTree::Path(path) => {
                self.branch(&path.tree, &[prefix, &[path.ident.to_string()]].concat());
            }
            UseTree::Name(name) => {
                let path = with(&name.ident);
                self.import(name.ident.span().start().line, path.last().cloned(), path);
            }
            UseTree::Rename(rename) => {
                let line = rename.ident.span().start().line;
                self.import(line, Some(rename.rename.to_string()), with(&rename.ident));
            }
            UseTree::Glob(glob) => {
                let line = glob.star_token.spans[0].start().line;
                self.import(line, None, prefix.to_vec());
            }
            UseTree::Group(group) => {
                for branch in &group.items {
                    self.branch(branch, prefix);
                }
            }
        }
    }

    fn import(&mut self, line: usize, name: Option<String>, path: Vec<String>) {
        if let Some(name) = name {
            self.aliases.insert(name, path.clone());
        }
        self.named.push(Named { line, segments: path });
    }

    /// Reads the paths in the tokens of a macro, such as `a::b`. A single word imports nothing.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut open = Named { line: 0, segments: Vec::new() };
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(word) if colons == 2 => open.segments.push(word.to_string()),
                TokenTree::Ident(word) => {
                    let (line, segments) = (word.span().start().line, vec![word.to_string()]);
                    self.close(std::mem::replace(&mut open, Named { line, segments }));
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => {
                    colons += 1;
                    continue;
                }
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            colons = 0;
        }
        self.close(open);
    }

    fn close(&mut self, path: Named) {
        if path.segments.len() > 1 {
            self.named.push(path);
        }
    }
}

/// Returns whether an item with `attributes` is compiled only for tests.
pub(crate) fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => {
            let words: Vec<_> = words(list.tokens.clone());
            words.iter().any(|word| word == "test") && !words.iter().any(|word| word == "not")
        }
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(_) | Meta::NameValue(_) => false,
    })
}

fn words(tokens: TokenStream) -> Vec<String> {
    tokens
        .into_iter()
        .flat_map(|token| match token {
            TokenTree::Ident(word) => vec![word.to_string()],
            TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
                words(group.stream())
            }
            TokenTree::Group(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => Vec::new(),
        })
        .collect()
}

/// Returns the file that `#[path = "..."]` names.
fn path_attribute(attributes: &[syn::Attribute]) -> Option<String> {
    let path = attributes.iter().find(|attribute| attribute.path().is_ident("path"))?;
    let Meta::NameValue(pair) = &path.meta else { return None };
    let syn::Expr::Lit(literal) = &pair.value else { return None };
    let syn::Lit::Str(text) = &literal.lit else { return None };
    Some(text.value())
}

/// Returns the attributes of an item.
pub(crate) fn attributes(item: &Item) -> &[syn::Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        Item::ExternCrate(_)
        | Item::ForeignMod(_)
        | Item::TraitAlias(_)
        | Item::Union(_)
        | Item::Verbatim(_)
        | _ => &[],
    }
}
