//! Extends the completions of a shell with names, which come from a call of `linkctl complete`.
//!
//! The scripts never call `link`: another program of this name may come first on PATH, and coreutils' `link` creates
//! files. The addition is appended to the generated script, or inserted into it.

use clap_complete::Shell;

/// The command that prints the names.
const ASK: &str = "linkctl complete --";

/// Adds names to the script of `shell` for a command called `name`.
pub(super) fn add(shell: Shell, name: &str, script: Vec<u8>) -> Vec<u8> {
    let text = String::from_utf8_lossy(&script);
    match shell {
        Shell::Bash => format!("{text}{}", bash(name)).into_bytes(),
        Shell::Zsh => zsh(name, &text).into_bytes(),
        Shell::Fish => format!("{text}{}", fish(name)).into_bytes(),
        Shell::PowerShell | Shell::Elvish | _ => script,
    }
}

fn bash(name: &str) -> String {
    format!(
        r#"
_{name}_names() {{
    _{name} "$@"
    local names
    names="$({ASK} "${{COMP_WORDS[@]:0:COMP_CWORD}}" "$2" 2>/dev/null)"
    if [[ -n $names ]]; then
        COMPREPLY=()
        local one
        while IFS= read -r one; do COMPREPLY+=("$(printf '%q' "$one")"); done <<< "$names"
    fi
}}

complete -F _{name}_names -o bashdefault -o default {name}
"#
    )
}

fn zsh(name: &str, script: &str) -> String {
    let begin = format!("_{name}() {{\n");
    let keeps = format!("{begin}    typeset -g -a _{name}_words=(\"${{words[@]:0:$CURRENT}}\")\n");
    let asks = format!(
        r#"
(( $+functions[_{name}_names] )) ||
_{name}_names() {{
    local -a names
    names=("${{(@f)$({ASK} "${{_{name}_words[@]}}" 2>/dev/null)}}")
    if [[ -n "$names" ]]; then compadd -a names; else _default; fi
}}

"#
    );
    let script =
        script.replacen(&begin, &keeps, 1).replace(":_default'", &format!(":_{name}_names'"));
    match script.split_once(&format!("\n{}", keeps)) {
        Some((head, rest)) => format!("{head}\n{}{keeps}{rest}", asks.trim_start()),
        None => script,
    }
}

fn fish(name: &str) -> String {
    // Where a name is expected, the files of the current folder are not offered.
    format!(
        r#"
function __{name}_names
    set -g __{name}_found ({ASK} (commandline -opc) (commandline -ct) 2>/dev/null)
    test (count $__{name}_found) -gt 0
end

complete -c {name} -n __{name}_names -f -a '$__{name}_found'
"#
    )
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::args::Arguments;

    #[test]
    fn each_script_asks_the_name_that_no_other_program_has() {
        let command = Arguments::command();
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = crate::shared_files::completions(&command, shell, "link");
            let script = String::from_utf8(script).unwrap();
            assert!(script.contains(ASK) && !script.contains("(link complete"), "{shell}");
        }
        let zsh = crate::shared_files::completions(&command, Shell::Zsh, "link");
        let zsh = String::from_utf8(zsh).unwrap();
        assert!(zsh.contains("typeset -g -a _link_words") && zsh.contains(":_link_names'"));
        assert!(!zsh.contains(":_default'"));
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = crate::shared_files::completions(&command, shell, "link-backend");
            assert!(!String::from_utf8(script).unwrap().contains(ASK), "{shell}");
        }
    }
}
