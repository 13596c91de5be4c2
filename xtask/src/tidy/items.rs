//! Rules about functions and public items: functions have a maximum length, and public items must
//! be used.
//!
//! An item counts as used if its name appears anywhere else in the repository, tests included: in code, in the braces
//! of a format string, or in the text of an attribute. So every reported item is unused, but an unused item that shares
//! its name with another one is not reported.

use std::collections::BTreeMap;

use proc_macro2::{Group, TokenStream, TokenTree};
use syn::{Visibility, visit::Visit};

use crate::tidy::{
    Finding,
    known::Known,
    lexer::RustFile,
    modules::tree::{attributes, is_test},
};

/// The maximum length of a product function, in lines, from its name to its end.
const FUNCTION_LINES: usize = 80;

/// Returns the findings in the items of `files`, except the `known` ones.
pub(crate) fn check(files: &[RustFile], known: &mut Known<'_>) -> Vec<Finding> {
    let mut uses = BTreeMap::new();
    let mut findings = Vec::new();
    let mut public = Vec::new();
    for file in files {
        let Ok(tokens) = file.text.parse::<TokenStream>() else { continue };
        count(tokens.clone(), false, &mut uses);
        if file.is_test() || file.path.starts_with("spikes/") {
            continue;
        }
        let Ok(parsed) = syn::parse2::<syn::File>(tokens) else { continue };
        let mut reader = Reader { file, long: Vec::new(), public: Vec::new() };
        reader.visit_file(&parsed);
        for long in reader.long {
            if !known.take(&format!("{}: {} is long", file.path, long.name)) {
                findings.push(long.finding(file));
            }
        }
        public.append(&mut reader.public);
    }
    let mut definitions: BTreeMap<&str, usize> = BTreeMap::new();
    for item in &public {
        *definitions.entry(&item.name).or_default() += 1;
    }
    let is_used = |item: &Public<'_>| {
        uses.get(&item.name).copied().unwrap_or(0) > definitions[item.name.as_str()]
    };
    findings.extend(public.iter().filter(|item| !is_used(item)).map(|item| Finding {
        path: item.file.to_owned(),
        line: item.line,
        rule: "unused",
        message: format!("`{}` is public but unused: delete it", item.name),
    }));
    findings
}

/// An item that is visible to other modules.
struct Public<'a> {
    file: &'a str,
    line: usize,
    name: String,
}

/// A function above the maximum length.
struct Long {
    name: String,
    first: usize,
    lines: usize,
}

impl Long {
    fn finding(&self, file: &RustFile) -> Finding {
        let Self { name, first, lines } = self;
        let message = format!(
            "`{name}` has {lines} lines, more than {FUNCTION_LINES}: split it into named parts"
        );
        Finding { path: file.path.clone(), line: *first, rule: "function-length", message }
    }
}

struct Reader<'a> {
    file: &'a RustFile,
    long: Vec<Long>,
    public: Vec<Public<'a>>,
}

impl Reader<'_> {
    fn function(&mut self, name: &syn::Ident, block: &syn::Block) {
        let (first, last) = (name.span().start().line, block.brace_token.span.close().end().line);
        let lines = last + 1 - first;
        if lines > FUNCTION_LINES {
            self.long.push(Long { name: name.to_string(), first, lines });
        }
    }

    fn item(&mut self, visibility: &Visibility, name: &syn::Ident) {
        if !matches!(visibility, Visibility::Inherited) {
            let line = name.span().start().line;
            let file = &self.file.path;
            self.public.push(Public { file, line, name: name.to_string() });
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if is_test(attributes(item)) {
            return;
        }
        match item {
            syn::Item::Const(item) => self.item(&item.vis, &item.ident),
            syn::Item::Enum(item) => self.item(&item.vis, &item.ident),
            syn::Item::Fn(item) => {
                self.item(&item.vis, &item.sig.ident);
                self.function(&item.sig.ident, &item.block);
            }
            syn::Item::Static(item) => self.item(&item.vis, &item.ident),
            syn::Item::Struct(item) => self.item(&item.vis, &item.ident),
            syn::Item::Trait(item) => self.item(&item.vis, &item.ident),
            syn::Item::Type(item) => self.item(&item.vis, &item.ident),
            syn::Item::ExternCrate(_)
            | syn::Item::ForeignMod(_)
            | syn::Item::Impl(_)
            | syn::Item::Macro(_)
            | syn::Item::Mod(_)
            | syn::Item::TraitAlias(_)
            | syn::Item::Union(_)
            | syn::Item::Use(_)
            | syn::Item::Verbatim(_)
            | _ => {}
        }
        syn::visit::visit_item(self, item);
    }

    fn visit_impl_item_fn(&mut self, method: &'ast syn::ImplItemFn) {
        if !is_test(&method.attrs) {
            self.item(&method.vis, &method.sig.ident);
            self.function(&method.sig.ident, &method.block);
            syn::visit::visit_impl_item_fn(self, method);
        }
    }

    fn visit_impl_item_const(&mut self, constant: &'ast syn::ImplItemConst) {
        self.item(&constant.vis, &constant.ident);
    }
}

/// Counts the words in code, in attributes and in the braces of strings.
fn count(tokens: TokenStream, in_attribute: bool, uses: &mut BTreeMap<String, usize>) {
    let mut after_hash = false;
    for token in tokens {
        match token {
            TokenTree::Ident(word) => *uses.entry(word.to_string()).or_default() += 1,
            TokenTree::Literal(literal) => {
                for word in words_of(&literal.to_string(), in_attribute) {
                    *uses.entry(word).or_default() += 1;
                }
            }
            TokenTree::Group(group) if after_hash && is_documentation(&group) => {}
            TokenTree::Group(group) => count(group.stream(), in_attribute || after_hash, uses),
            TokenTree::Punct(mark) => {
                after_hash = mark.as_char() == '#' || (after_hash && mark.as_char() == '!');
                continue;
            }
        }
        after_hash = false;
    }
}

fn is_documentation(attribute: &Group) -> bool {
    matches!(attribute.stream().into_iter().next(), Some(TokenTree::Ident(word)) if word == "doc")
}

/// Returns the words of a literal that may be names: in an attribute all words, otherwise those after an opening brace.
fn words_of(literal: &str, in_attribute: bool) -> Vec<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    if in_attribute {
        return literal.split(|c| !is_word(c)).map(str::to_owned).collect();
    }
    let after_brace = literal.split('{').skip(1);
    after_brace.filter_map(|rest| rest.split(|c| !is_word(c)).next()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::lexer::tests::rust;

    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<_> = files.iter().map(|(path, text)| rust(path, text)).collect();
        check(&files, &mut Known::read("")).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_function_above_the_limit_is_refused_and_tests_are_not_counted() {
        let body = |lines: usize| format!("fn a() {{{}}}\n", "\n".repeat(lines - 1));
        assert_eq!(findings(&[("a/src/a.rs", &body(80))]), [""; 0]);
        let found = findings(&[("a/src/a.rs", &body(81))]);
        assert_eq!(
            found,
            [
                "a/src/a.rs:1: function-length: `a` has 81 lines, more than 80: split it into named parts"
            ]
        );
        let files = [rust("a/src/a.rs", &body(81))];
        assert_eq!(check(&files, &mut Known::read("a/src/a.rs: a is long\n")), []);
        let method = format!("impl A {{ {} }}", body(81));
        assert_eq!(findings(&[("a/src/a.rs", &method)]).len(), 1);
        let test = format!("#[cfg(test)]\nmod tests {{ {} }}", body(81));
        assert_eq!(findings(&[("a/src/a.rs", &test)]), [""; 0]);
        assert_eq!(findings(&[("a/src/a/tests.rs", &body(81))]), [""; 0]);
    }

    #[test]
    fn a_public_item_that_nobody_names_is_refused() {
        for item in [
            "pub fn dead() {}",
            "pub(crate) const dead: u8 = 0;",
            "pub struct dead;",
            "struct A; impl A { pub const fn dead(&self) {} }",
            "/// See `dead`, and {dead}.\npub(super) fn dead() { print!(\"dead\") }",
        ] {
            let found = findings(&[("a/src/a.rs", item)]);
            assert_eq!(found.len(), 1, "{item}: {found:?}");
            assert!(found[0].ends_with("unused: `dead` is public but unused: delete it"));
        }
    }

    #[test]
    fn a_name_that_stands_anywhere_else_is_used() {
        for user in [
            "use a::alive;",
            "fn b() { print!(\"{alive:?}\") }",
            "#[serde(default = \"a::alive\")]\nstruct B;",
            "fn b() { a.alive() }",
            "#![expect(dead_code)]\n#[test]\nfn b() { alive() }",
        ] {
            let files = [("a/src/a.rs", "pub fn alive() {}"), ("b/tests/b.rs", user)];
            assert_eq!(findings(&files), [""; 0], "{user}");
        }
        assert_eq!(findings(&[("a/src/a.rs", "fn private() {}")]), [""; 0]);
    }
}
