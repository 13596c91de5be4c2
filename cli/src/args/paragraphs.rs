//! Help texts without fixed line breaks: the terminal's width decides where the lines of a paragraph end.

use clap::Command;

/// Returns `command` with the paragraphs of its help texts, and of its subcommands', each on one line. Blocks with
/// indented lines, such as examples, keep their lines.
pub(crate) fn flowing(command: Command) -> Command {
    let short = command.get_after_help().map(|text| joined(&text.to_string()));
    let long = command.get_after_long_help().map(|text| joined(&text.to_string()));
    let command = match short {
        Some(text) => command.after_help(text),
        None => command,
    };
    let command = match long {
        Some(text) => command.after_long_help(text),
        None => command,
    };
    command.mut_subcommands(flowing)
}

/// Returns `command` for a terminal, where clap takes `{n}` in a help text for a line break. A reset of colours stands
/// inside the braces of that placeholder: nobody sees it, and where there are no colours it is left out.
pub(crate) fn with_placeholders(command: Command) -> Command {
    const KEPT: &str = "{\u{1b}[0mn}";
    let kept = command.get_after_help().map(|text| text.to_string().replace("{n}", KEPT));
    let command = match kept {
        Some(text) => command.after_help(text),
        None => command,
    };
    command.mut_subcommands(with_placeholders)
}

fn joined(text: &str) -> String {
    let paragraph = |paragraph: &str| {
        let has_block = paragraph.lines().any(|line| line.starts_with(' '));
        if has_block { paragraph.to_owned() } else { paragraph.replace('\n', " ") }
    };
    text.split("\n\n").map(paragraph).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_flow_and_examples_keep_their_lines() {
        let text = "Examples:\n  link a\n  link b\n\nOne sentence\ngoes on.\n\nAnother\none.";
        let expected = "Examples:\n  link a\n  link b\n\nOne sentence goes on.\n\nAnother one.";
        assert_eq!(joined(text), expected);
        let below = Command::new("b").after_help("x\ny");
        let mut command = flowing(Command::new("a").subcommand(below).after_long_help("u\nv"));
        assert!(command.render_long_help().to_string().ends_with("\nu v\n"));
        let below = command.find_subcommand("b").unwrap();
        assert_eq!(below.get_after_help().unwrap().to_string(), "x y");
    }

    #[test]
    fn a_placeholder_is_no_line_break() {
        let below = Command::new("b").after_help("link b 'lab-{n}'");
        let mut command = with_placeholders(Command::new("a").subcommand(below));
        let help = command.find_subcommand_mut("b").unwrap().render_help();
        assert!(help.to_string().ends_with("link b 'lab-{n}'\n"), "{help}");
    }
}
