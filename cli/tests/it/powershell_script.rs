//! `scripts/install.ps1`, by its text and its syntax tree: no PowerShell runs where these tests do (docs/platforms.md).
//!
//! The linter accepts the script and finds each fault that a test plants. Both installers have the same options,
//! variables, exit codes and messages, except for the differences in `differences`, each with its reason.

mod differences;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::{Command, Output},
};

const SHELL: &str = include_str!("../../../scripts/install.sh");
const SCRIPT: &str = include_str!("../../../scripts/install.ps1");

/// Faults: the text to replace, the text to put there, and the rule that must find it.
const FAULTS: &[(&str, &str, &str)] = &[
    ("  $run = @{", "  if ($true) { $run = @{", "parse"),
    ("\"the disk is full", "the disk is full", "parse"),
    ("# ---- Downloads", "# \u{2014} Downloads", "ascii"),
    ("# ---- Downloads", "# ---- Downloads ", "space"),
    ("# ---- Downloads", "# ---- Downloads\r", "space"),
    ("$tries = 3; $had = 0", "$tries = $tries ?? 3; $had = 0", "parse"),
    ("$tries = 3; $had = 0", "$tries = $stalled ? 2 : 3; $had = 0", "parse"),
    (
        "$null = New-Item -ItemType Directory -Path $files;",
        "New-Item -ItemType Directory -Path $files && $true;",
        "new",
    ),
    ("function Get-Size(", "class Size { [int]$Bytes }\n  function Get-Size(", "new"),
    ("Copy-Item -LiteralPath", "cp -LiteralPath", "alias"),
    ("Where-Object { $_ -is", "? { $_ -is", "alias"),
    ("Copy-Item -LiteralPath $path", "Copy-Item $path", "literal"),
    (
        "Get-Item -LiteralPath $File -Force",
        "Get-Content -LiteralPath $File -AsByteStream",
        "parameter",
    ),
    ("Start-Sleep -Seconds 1", "Start-Sleep -Duration 1", "parameter"),
    ("Start-Sleep -Seconds 1", "Start-Slep -Seconds 1", "command"),
    ("$null | & $Program @Words\n", "$null | & link.exe @Words\n", "command"),
    ("Start-Sleep -Seconds 1", "Invoke-Expression $path", "forbidden"),
    ("Start-Sleep -Seconds 1", "Invoke-WebRequest $From -OutFile $to", "forbidden"),
    ("Start-Sleep -Seconds 1", "Add-Type -AssemblyName System.Net.Http", "forbidden"),
    ("Start-Sleep -Seconds 1", "& $to -ExecutionPolicy Bypass", "malware"),
    ("Start-Sleep -Seconds 1", "& $to -WindowStyle Hidden", "malware"),
    ("Stop-Install $LASTEXITCODE '' }", "exit $LASTEXITCODE }", "exit"),
    (
        "Install-Link; if (Test-File) { exit $LASTEXITCODE }",
        "Install-Link; exit $LASTEXITCODE",
        "shape",
    ),
    (
        "function Install-Link {",
        "$ErrorActionPreference = 'Stop'\nfunction Install-Link {",
        "shape",
    ),
    ("  Set-StrictMode -Version 3.0\n", "", "strict"),
    (
        "if ($ExecutionContext.SessionState.LanguageMode -ne 'FullLanguage')",
        "if ($false)",
        "strict",
    ),
    ("$ErrorActionPreference = 'Continue'\n    $null", "$null *> $null\n    $null", "redirect"),
    ("$run = @{ Code", "$global:run = @{ Code", "global"),
    ("$had = [Math]::Max($had, $now)", "$had = [Math]::Max($hat, $now)", "variable"),
    ("[Net.WebRequest]::Create", "[Net.Http.HttpClient]::Create", "type"),
    ("New-Object Net.Sockets.TcpClient", "New-Object Net.WebClient", "type"),
    (
        "$ending = @('uninstall', '--yes')",
        "$ending = @('register', '--fleet-key', $FleetKey)",
        "secret",
    ),
    ("Write-Note \"Link is not", "Write-Note \"$FleetKey Link is not", "secret"),
];

// The script is small, plain ASCII, and passes every rule.
#[test]
fn the_linter_accepts_every_script() {
    let Some(ran) = lint(&[]) else { return };
    assert!(ran.status.success() && ran.stdout.is_empty(), "{ran:?}");
}

// Holds: S4.4-6b
#[test]
fn the_key_of_a_fleet_is_a_parameter_that_only_the_environment_hands_on() {
    assert!(script_options().contains("FleetKey"));
    assert!(SCRIPT.contains(
        "if ($FleetKey) { $env:LINK_FLEET_KEY = $FleetKey; $env:LINK_FLEET_KEY_FILE = $null; \
         $env:LINK_REGISTRATION_KEY = $null; $env:LINK_REGISTRATION_KEY_FILE = $null }"
    ));
    let Some(ran) = lint(&[]) else { return };
    assert!(!String::from_utf8(ran.stdout).unwrap().contains(": secret: "));
}

#[test]
fn the_linter_finds_each_fault_that_is_planted() {
    let folder = tempfile::tempdir().unwrap();
    let mut planted = Vec::new();
    for (number, (from, to, rule)) in FAULTS.iter().enumerate() {
        assert!(SCRIPT.contains(from), "{from}");
        let file = folder.path().join(format!("{number}.ps1"));
        std::fs::write(&file, SCRIPT.replacen(from, to, 1)).unwrap();
        planted.push((file, to, rule));
    }
    let files: Vec<_> = planted.iter().map(|(file, ..)| file.to_str().unwrap()).collect();
    let Some(ran) = lint(&files) else { return };
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    let found = String::from_utf8(ran.stdout).unwrap();
    for (file, to, rule) in planted {
        let file = file.display();
        let own: Vec<_> =
            found.lines().filter(|line| line.starts_with(&format!("{file}:"))).collect();
        assert!(
            own.iter().any(|line| line.contains(&format!(": {rule}: "))),
            "{to}: {rule}: {own:#?}"
        );
    }
}

/// A cut copy is no PowerShell, or only defines functions.
#[test]
fn a_copy_that_was_cut_off_does_nothing() {
    let Some(ran) = lint(&["--cuts", script().to_str().unwrap()]) else { return };
    assert!(ran.status.success(), "{ran:?}");
    let said = String::from_utf8(ran.stdout).unwrap();
    assert!(said.ends_with(" cuts, none runs anything\n"), "{said}");
    let folder = tempfile::tempdir().unwrap();
    let open = folder.path().join("open.ps1");
    std::fs::write(
        &open,
        SCRIPT.replacen("function Install-Link", "Write-Output 'begin'\nfunction Install-Link", 1),
    )
    .unwrap();
    let ran = lint(&["--cuts", open.to_str().unwrap()]).unwrap();
    assert_eq!(ran.status.code(), Some(1), "a script that begins at once: {ran:?}");
}

#[test]
fn both_installers_have_the_same_options() {
    let shell: BTreeSet<_> = shell_options().iter().map(|option| pascal(option)).collect();
    let script = script_options();
    assert!(script.contains("FleetKey") && shell.contains("FleetKey"));
    differ("options", &shell, &script, differences::OPTIONS);
    let usage = between(SCRIPT, "Usage: install.ps1", "\n'@");
    for option in script.iter().filter(|option| *option != "Help") {
        assert!(usage.contains(&format!("-{option}")), "the help says nothing of -{option}");
    }
}

/// A flag wins over its variable, as in the shell (where tests run it).
// Holds: S4.4-9
#[test]
fn an_option_of_powershell_is_read_before_its_variable() {
    for (option, variable) in
        [("RepoUrl", "LINK_REPO_URL"), ("Branch", "LINK_BRANCH"), ("Version", "LINK_VERSION")]
    {
        let read = format!("Select-First ${option} $env:{variable}");
        assert!(SCRIPT.contains(&read), "{read}");
        assert_eq!(SCRIPT.matches(&format!("$env:{variable}")).count(), 1, "{variable}");
    }
}

#[test]
fn both_installers_read_the_same_variables() {
    let named = |text: &str| -> BTreeSet<String> {
        text.split(|c: char| !(c.is_ascii_uppercase() || c == '_'))
            .filter(|word| word.starts_with("LINK_") && word.len() > 5)
            .map(str::to_owned)
            .collect()
    };
    differ("variables", &named(SHELL), &named(SCRIPT), differences::VARIABLES);
}

#[test]
fn both_installers_end_with_the_same_codes_and_messages() {
    let shell = said(SHELL, &["die ", "stop "], '\\');
    let script = said(SCRIPT, &["Stop-Install ", "Stop-Full "], '`');
    assert!(shell.len() > 15 && script.len() > 15, "{shell:#?} {script:#?}");
    differ("messages", &shell, &script, differences::MESSAGES);
    let codes = |said: &BTreeSet<String>| -> BTreeSet<String> {
        said.iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
    };
    differ("codes", &codes(&shell), &codes(&script), differences::CODES);
    for code in codes(&shell).union(&codes(&script)) {
        let all = link_protocol::exit_code::ExitCode::ALL;
        let is_documented = all.iter().any(|known| known.number().to_string() == *code);
        assert!(is_documented, "{code} is no exit code of `link`");
    }
}

#[test]
fn both_installers_give_the_same_advice_about_a_failed_download() {
    let shell: BTreeSet<_> = SHELL
        .lines()
        .filter_map(|line| line.split_once(") help=\"")?.1.strip_suffix("\" ;;"))
        .map(|help| plain(help, '\\'))
        .collect();
    let advice = between(SCRIPT, "function Get-Advice", "return ''\n");
    let script: BTreeSet<_> = advice
        .lines()
        .filter_map(|line| line.split_once("return ")?.1.get(1..)?.strip_suffix(" }"))
        .map(|help| plain(help.trim_end_matches(['"', '\'']).trim_start_matches("; "), '`'))
        .map(|help| help.replace("''", "'"))
        .collect();
    assert_eq!(shell.len(), 6, "{shell:#?}");
    differ("advice", &shell, &script, differences::ADVICE);
}

/// Both hand the same words over to the `link` of the release.
#[test]
fn both_installers_hand_over_to_the_same_command() {
    for word in [
        "--source",
        "--made",
        "--archive",
        "--from",
        "--quiet",
        "--dry-run",
        "--yes",
        "--force",
        "--release",
    ] {
        assert!(SHELL.contains(word), "install.sh: {word}");
        assert!(SCRIPT.contains(&format!("'{word}'")), "install.ps1: {word}");
    }
    for command in ["self-check", "verify-files", "install-files", "uninstall"] {
        let shell = command.replace("install-files", "install${kind:--files}");
        assert!(SHELL.contains(&shell), "install.sh: {command}");
        assert!(SCRIPT.contains(&format!("'{command}'")), "install.ps1: {command}");
    }
}

/// Fails unless the two sets differ by exactly the listed items.
fn differ(what: &str, shell: &BTreeSet<String>, script: &BTreeSet<String>, known: &[(&str, &str)]) {
    let found: BTreeSet<_> = shell.symmetric_difference(script).cloned().collect();
    let listed: BTreeSet<_> = known.iter().map(|(item, _)| (*item).to_owned()).collect();
    let without: Vec<_> = found.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(&found).collect();
    assert!(without.is_empty(), "{what} of one installer only, without a reason: {without:#?}");
    assert!(gone.is_empty(), "{what} that do not differ, or are gone: {gone:#?}");
    assert!(known.iter().all(|(_, reason)| reason.len() > 20), "{what}: a reason is a sentence");
}

/// Returns each `CODE message` of a text, with `*` in the place of each variable.
fn said(text: &str, calls: &[&str], escape: char) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for call in calls {
        for (at, _) in text.match_indices(call) {
            if text[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '-') {
                continue;
            }
            let rest = &text[at + call.len()..];
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (code, rest) = rest.split_at(digits);
            let quote = rest.trim_start().chars().next();
            let Some(quote) = quote.filter(|c| !code.is_empty() && "\"'$".contains(*c)) else {
                continue;
            };
            let message = match quote {
                '$' => "*".to_owned(),
                quote => plain(&quoted(&rest.trim_start()[1..], quote, escape), escape),
            };
            all.insert(format!("{code} {message}"));
        }
    }
    all
}

/// Returns the text up to the quote that ends it: not one in a nested `$( )` and not an escaped one.
fn quoted(text: &str, quote: char, escape: char) -> String {
    let (mut depth, mut is_escaped) = (0, false);
    text.chars()
        .take_while(|&c| {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            let ends = c == quote && !is_escaped && depth <= 0;
            is_escaped = c == escape && !is_escaped;
            !ends
        })
        .collect()
}

/// Returns a message with `*` in the place of each variable and without escapes.
fn plain(text: &str, escape: char) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        plain.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let closing = match after.chars().next() {
            Some('(') => Some(('(', ')')),
            Some('{') => Some(('{', '}')),
            _ => None,
        };
        let length = match closing {
            Some((open, close)) => {
                let mut depth = 0;
                after
                    .find(|c: char| {
                        depth += i32::from(c == open) - i32::from(c == close);
                        depth == 0
                    })
                    .unwrap()
                    + 1
            }
            None => after.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count(),
        };
        if !plain.ends_with('*') {
            plain.push('*');
        }
        rest = &after[length..];
    }
    plain.push_str(rest);
    plain.replace(&format!("{escape}`"), "`")
}

fn shell_options() -> BTreeSet<String> {
    let cases = between(SHELL, "while [ $# -gt 0 ]; do", "done\n");
    cases
        .split(|c: char| !(c.is_ascii_lowercase() || c == '-'))
        .filter(|word| word.starts_with("--") && word.len() > 2)
        .map(str::to_owned)
        .collect()
}

fn script_options() -> BTreeSet<String> {
    let parameters = between(SCRIPT, "\nparam(", "\n)");
    let named =
        parameters.split('$').skip(1).map(|rest| rest.split([',', '\n']).next().unwrap().trim());
    named.map(str::to_owned).collect()
}

/// Returns `FleetKey` for `--fleet-key`.
fn pascal(option: &str) -> String {
    let words = option.trim_start_matches('-').split('-');
    words.map(|word| format!("{}{}", word[..1].to_uppercase(), &word[1..])).collect()
}

fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = text.split_once(from).unwrap_or_else(|| panic!("no `{from}`"));
    rest.split_once(to).unwrap_or_else(|| panic!("no `{to}`")).0
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/install.ps1")
}

/// Runs the linter. Without its grammar, says so and returns `None`.
fn lint(arguments: &[&str]) -> Option<Output> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/lint-powershell");
    let ran = Command::new(program).args(arguments).output().unwrap();
    if ran.status.code() == Some(10) {
        eprintln!("skipped: `scripts/prepare powershell` was not run");
        return None;
    }
    Some(ran)
}
