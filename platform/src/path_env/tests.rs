//! Adding a block, removing it, and the choice of the files.

use proptest::prelude::*;

use super::*;

#[test]
fn the_block_stands_at_the_end_between_two_comments() {
    let line = line(Syntax::Posix, "/home/a b/.local/bin").unwrap();
    assert_eq!(
        add("umask 022\n", &line, ""),
        "umask 022\n\
         # >>> link >>> `link uninstall` takes these lines out\n\
         case \"$PATH\" in '/home/a b/.local/bin' | '/home/a b/.local/bin':*) ;; \
         *) export PATH='/home/a b/.local/bin':\"$PATH\" ;; esac\n\
         # <<< link <<<\n"
    );
    assert_eq!(
        super::line(Syntax::Fish, r"/home/o'k\").unwrap(),
        r#"test "$PATH[1]" = '/home/o\'k\\'; or set -gx PATH '/home/o\'k\\' $PATH"#
    );
}

#[test]
fn two_installations_that_share_a_profile_leave_each_other_alone() {
    let put = |text: &str, folder| put(Syntax::PowerShell, text, folder).unwrap();
    let take = |text: &str, folder| take(Syntax::PowerShell, text, folder);
    let (mine, one, other) = ("Set-Alias ll ls\r\n", r"C:\Jürgen\link", r"D:\o'k\link");
    let both = put(&put(mine, one), other);
    assert_eq!(put(&put(&both, one), other), both, "both are there");
    assert_eq!(take(&both, other), put(mine, one));
    assert_eq!(take(&both, one), put(mine, other));
    assert_eq!(take(&take(&both, one), other), mine);
    assert_eq!(take(&both, r"C:\other"), both);
}

#[test]
fn a_folder_that_cannot_stand_on_path_gets_no_line() {
    for folder in ["/a:b", "/a\nb", "/a\r"] {
        assert_eq!(line(Syntax::Posix, folder), None);
    }
}

#[cfg(unix)]
#[test]
fn sh_puts_the_folder_first_once_whatever_its_name_is() {
    use crate::process::{Call, call};

    for folder in ["/o'k $HOME", "/\"`x`\\", "/a*b"] {
        let line = line(Syntax::Posix, folder).unwrap();
        let script = format!("PATH=/usr/bin\n{line}\n{line}\nprintf %s \"$PATH\"");
        let args = vec!["-c".into(), script.into()];
        let limit = std::time::Duration::from_secs(60);
        let shell = Call { program: "/bin/sh".into(), args, env: None, limit };
        assert_eq!(call(&shell).unwrap().stdout, format!("{folder}:/usr/bin"));
    }
}

#[test]
fn another_line_takes_the_place_of_the_one_before() {
    let text = add(&add("a", "one", ""), "two", "");
    assert!(!text.contains("one") && text.contains("two"), "{text}");
    assert_eq!(remove(&text, ""), "a");
}

#[test]
fn a_block_without_its_end_is_left_alone() {
    let text = format!("a\n{BEGIN}\nexport PATH\n");
    assert_eq!(remove(&text, ""), text);
}

#[test]
fn the_files_are_those_that_the_shells_present_read() {
    let home = PathBuf::from("/h");
    let shells = Shells { home: home.clone(), config: home.join(".config"), ..Shells::default() };
    let names = |shells: &Shells, there: &[&str]| -> Vec<String> {
        let there: Vec<_> = there.iter().map(|name| shells.home.join(name)).collect();
        let files = start_files(shells, |path| there.iter().any(|found| found == path));
        files.iter().map(|file| file.path.display().to_string().replace('\\', "/")).collect()
    };
    assert_eq!(names(&shells, &[]), ["/h/.profile"]);
    assert_eq!(
        names(&shells, &[".bashrc", ".bash_profile"]),
        ["/h/.profile", "/h/.bash_profile", "/h/.bashrc"]
    );
    assert_eq!(names(&shells, &[".zshrc"]), ["/h/.profile", "/h/.zshenv", "/h/.zshrc"]);
    let zsh = Shells {
        zsh_folder: Some("/z".into()),
        login_shell: Some("/usr/bin/zsh".into()),
        ..shells.clone()
    };
    assert_eq!(names(&zsh, &[]), ["/h/.profile", "/z/.zshenv"]);
    let fish = ["/h/.profile", "/h/.config/fish/conf.d/link.fish"];
    assert_eq!(names(&shells, &[".config/fish"]), fish);
    let login = Shells { login_shell: Some("/usr/bin/fish".into()), ..shells };
    assert_eq!(names(&login, &[]), fish);
}

proptest! {
    #[test]
    fn taking_the_block_out_gives_every_byte_back(text in "(?s)([a#\r\n]|\r\n|# <<< link <<<){0,40}") {
        let line = line(Syntax::Posix, "/bin").unwrap();
        let added = add(&text, &line, "");
        prop_assert_eq!(add(&added, &line, ""), added.clone());
        prop_assert_eq!(remove(&added, ""), text);
    }

    #[test]
    fn what_is_written_after_the_block_stays(
        before in "([a#]\r?\n){0,5}", after in "([b#]\r?\n){1,5}",
    ) {
        let line = line(Syntax::Posix, "/bin").unwrap();
        prop_assert_eq!(remove(&(add(&before, &line, "") + &after), ""), before + &after);
    }
}

/// What an installation and an uninstallation write into the registry, case by case.
#[test]
fn the_registry_gets_one_entry_and_an_uninstallation_takes_it_out() {
    let folder = r"C:\Users\Jörg Müller\AppData\Local\link\bin";
    let long = vec![r"C:\Program Files\A tool with a name\bin"; 60].join(";");
    let cases = [
        ("a new user", ""),
        ("folders of others", r"%USERPROFILE%\AppData\Local\Microsoft\WindowsApps;C:\Tools\"),
        ("a quoted entry with a separator", r#""C:\a;b";C:\Tools"#),
        ("empty entries", r";C:\Tools;;"),
        ("a value of 2,399 characters", &long),
        (
            "the folder by another spelling",
            r#"C:\Tools;"c:/users/jörg müller/AppData/Local/link/bin/""#,
        ),
    ];
    let mut plan = String::new();
    for (case, before) in cases {
        let after = put(Syntax::Entries, before, folder).unwrap();
        let left = take(Syntax::Entries, &after, folder);
        let shown = |value: &str| match value {
            "" => "-".to_owned(),
            value => value.replace(&long, "<long>"),
        };
        plan.push_str(&format!(
            "# {case}\nbefore       {}\ninstalled    {}\nuninstalled  {}\n\n",
            shown(before),
            shown(&after),
            shown(&left)
        ));
    }
    assert_eq!(plan, include_str!("golden/registry.txt"));
}
