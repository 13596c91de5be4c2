//! Writes a page of the manual: the parts of `clap_mangen`, and examples whose line breaks are kept.

use std::io::{self, Write};

use clap::Command;
use clap_mangen::Man;

/// Writes the page of `command` to `page`.
///
/// # Errors
/// If the page cannot be written.
pub(super) fn write(command: &Command, page: &mut dyn Write) -> io::Result<()> {
    let man = Man::new(command.clone());
    // The title of `clap_mangen` leaves out an empty date, so that `man` takes the next word for it.
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    writeln!(page, ".TH {name} 1 \"\" Link \"Link manual\"")?;
    man.render_name_section(page)?;
    let mut synopsis = Vec::new();
    man.render_synopsis_section(&mut synopsis)?;
    let synopsis = with_values(&String::from_utf8_lossy(&synopsis), command);
    page.write_all(synopsis.as_bytes())?;
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

/// Adds to each option of `synopsis` the name of its value.
fn with_values(synopsis: &str, command: &Command) -> String {
    let mut synopsis = synopsis.to_owned();
    for option in command.get_arguments().filter(|option| option.get_action().takes_values()) {
        let (Some(name), Some(values)) = (option.get_long(), option.get_value_names()) else {
            continue;
        };
        let flag = format!("\\fB\\-\\-{}\\fR", escaped(name));
        let values = escaped(&values.join(" "));
        synopsis = synopsis.replacen(&flag, &format!("{flag} \\fI{values}\\fR"), 1);
    }
    synopsis
}

/// Returns the text after the options. A heading with indented lines becomes a section that keeps its line breaks. Any
/// other paragraph is filled.
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
    use clap::Arg;

    use super::*;

    #[test]
    fn a_page_has_a_plain_title_and_the_values_of_its_options() {
        let mut command = Command::new("deploy")
            .arg(Arg::new("time").long("time-limit").value_name("TIME"))
            .arg(Arg::new("time-limit-all").long("all").action(clap::ArgAction::SetTrue))
            .arg(Arg::new("model").value_name("MODEL").required(true));
        command.build();
        let mut page = Vec::new();
        write(&command, &mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        assert!(page.contains(".TH deploy 1 \"\" Link \"Link manual\"\n"), "{page}");
        let wanted = "[\\fB\\-\\-time\\-limit\\fR \\fITIME\\fR] [\\fB\\-\\-all\\fR]";
        assert!(page.contains(wanted), "{page}");
    }

    #[test]
    fn examples_keep_their_lines_and_other_texts_are_filled() {
        let page = further("Examples:\n  link a --b\n  link c\n\nThis goes\non.\n\n.x");
        assert_eq!(
            page,
            ".SH \"EXAMPLES\"\n.nf\n  link a \\-\\-b\n  link c\n.fi\n.PP\nThis goes\non.\n.PP\n\\&.x\n"
        );
    }
}
