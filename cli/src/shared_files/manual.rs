//! One page of the manual: the parts of `clap_mangen`, with examples that keep their lines.

use std::io::{self, Write};

use clap::Command;
use clap_mangen::Man;

/// Writes the page of `command` to `page`.
///
/// # Errors
/// When the page cannot be written.
pub(super) fn write(command: &Command, page: &mut dyn Write) -> io::Result<()> {
    let man = Man::new(command.clone());
    man.render_title(page)?;
    man.render_name_section(page)?;
    man.render_synopsis_section(page)?;
    man.render_description_section(page)?;
    if command.get_arguments().any(|argument| !argument.is_hide_set()) {
        man.render_options_section(page)?;
    }
    if command.get_subcommands().any(|subcommand| !subcommand.is_hide_set()) {
        man.render_subcommands_section(page)?;
    }
    let text = command.get_after_long_help().or_else(|| command.get_after_help());
    page.write_all(text.map(|text| further(&text.to_string())).unwrap_or_default().as_bytes())?;
    if command.get_version().is_some() {
        man.render_version_section(page)?;
    }
    Ok(())
}

/// Returns the text after the options: a heading and its indented lines become a section that keeps
/// its lines, and any other paragraph is filled.
fn further(text: &str) -> String {
    let mut page = String::new();
    for paragraph in text.split("\n\n") {
        let (first, rest) = paragraph.split_once('\n').unwrap_or((paragraph, ""));
        match first.strip_suffix(':').filter(|_| rest.starts_with("  ")) {
            Some(heading) => {
                let lines: String =
                    rest.lines().map(|line| format!("{}\n", escaped(line))).collect();
                let heading = heading.to_uppercase();
                page.push_str(&format!(".SH \"{heading}\"\n.nf\n{lines}.fi\n"));
            }
            None => {
                let lines: String =
                    paragraph.lines().map(|line| format!("{}\n", escaped(line))).collect();
                page.push_str(&format!(".PP\n{lines}"));
            }
        }
    }
    page
}

fn escaped(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-");
    if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_keep_their_lines_and_other_texts_are_filled() {
        let page = further("Examples:\n  link a --b\n  link c\n\nThis goes\non.\n\n.x");
        assert_eq!(
            page,
            ".SH \"EXAMPLES\"\n.nf\n  link a \\-\\-b\n  link c\n.fi\n.PP\nThis goes\non.\n.PP\n\\&.x\n"
        );
    }
}
