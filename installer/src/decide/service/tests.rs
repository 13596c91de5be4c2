//! The text of the unit, the choice of the tier, the step for an existing unit, and the reported
//! availability.

use super::*;

#[test]
fn a_unit_is_ours_when_it_starts_our_guard() {
    let program = std::path::Path::new("/home/a b/100%/link-guard");
    let unit = Unit { program: program.into(), environment: vec![variable("LINK_HOME", "/x")] };
    let text = unit.text().unwrap();
    assert!(starts(&text, program) && starts(&format!("{text}Nice=5\n"), program));
    assert!(!starts(&text, std::path::Path::new("/home/link-guard")) && !starts("", program));
}

#[test]
fn the_unit_is_this_text() {
    let unit = Unit {
        program: "/home/a b/100%/$x/\"q\"\\/link-guard".into(),
        environment: vec![variable("LINK_HOME", "/home/a b/100%")],
    };
    assert_eq!(
        unit.text().unwrap(),
        r#"# Made by the Link installer. Edited, it is kept; a drop-in is the better place:
#   systemctl --user edit link
[Unit]
Description=Link agent
StartLimitIntervalSec=0

[Service]
Type=notify
ExecStart="/home/a b/100%%/$x/\"q\"\\/link-guard"
Environment="LINK_HOME=/home/a b/100%%"
UnsetEnvironment=LINK_REGISTRATION_KEY LINK_FLEET_KEY LINK_ACCESS_TOKEN
Restart=always
RestartSec=2
WatchdogSec=60
TimeoutStartSec=60
TimeoutStopSec=30
KillMode=mixed
UMask=0077

[Install]
WantedBy=default.target
"#
    );
}

#[test]
fn a_path_that_would_end_its_line_makes_no_unit() {
    let unit = Unit { program: "/home/a\nExecStart=/bin/false".into(), environment: vec![] };
    assert_eq!(unit.text(), None);
}

#[test]
fn a_folder_of_its_own_gets_no_unit_unless_it_asks() {
    let table = [
        (Wish::Best, false, Some(Manager::Systemd), Tier::SystemdUser),
        (Wish::Best, false, Some(Manager::Launchd), Tier::LaunchAgent),
        (Wish::Best, false, Some(Manager::TaskScheduler), Tier::LogonTask),
        (Wish::Best, false, None, Tier::Detached),
        (Wish::Best, true, Some(Manager::Systemd), Tier::Detached),
        (Wish::Managed, true, Some(Manager::Systemd), Tier::SystemdUser),
        (Wish::Managed, true, None, Tier::Detached),
        (Wish::Detached, false, Some(Manager::TaskScheduler), Tier::Detached),
    ];
    for (wish, own_folder, answering, tier) in table {
        assert_eq!(
            choose(wish, own_folder, answering),
            tier,
            "{wish:?} {own_folder} {answering:?}"
        );
    }
    assert!(manager_answers("degraded") && manager_answers("running"));
    assert!(!manager_answers("offline") && !manager_answers("") && !manager_answers("unknown"));
}

#[test]
fn a_unit_keeps_the_variables_that_are_not_given_anew() {
    let unit = |environment| Unit { program: "/guard".into(), environment };
    let had = [variable("LINK_LOCAL_PORT", "7"), variable("XDG_DATA_HOME", "/data")];
    assert_eq!(unit(vec![]).keeping(&had), unit(had.to_vec()));
    let given = unit(vec![variable("XDG_DATA_HOME", "/data"), variable("LINK_LOCAL_PORT", "7")]);
    assert_eq!(given.keeping(&had).text(), unit(had.to_vec()).text());
    let given = unit(vec![variable("LINK_HOME", "/link"), variable("LINK_LOCAL_PORT", "8")]);
    let wanted = vec![
        variable("LINK_LOCAL_PORT", "8"),
        variable("XDG_DATA_HOME", "/data"),
        variable("LINK_HOME", "/link"),
    ];
    assert_eq!(given.keeping(&had), unit(wanted));
    let old = [variable("HTTPS_PROXY", "http://old"), variable("LINK_LOCAL_PORT", "7")];
    let given = unit(vec![variable("https_proxy", "http://new")]);
    let wanted = vec![variable("LINK_LOCAL_PORT", "7"), variable("https_proxy", "http://new")];
    assert_eq!(given.keeping(&old), unit(wanted), "programs read the upper-case name first");
}

#[test]
fn a_unit_is_written_over_only_when_nobody_changed_it() {
    let ours = ["old".to_owned(), "new".to_owned()];
    let step = |text, hash, written: &[String]| {
        unit_step(UnitFile::Text { text, hash }, written, "a\nb\nc")
    };
    assert_eq!(unit_step(UnitFile::Nothing, &[], "a"), UnitStep::Write);
    assert_eq!(unit_step(UnitFile::Nothing, &ours, "a"), UnitStep::Write);
    assert_eq!(step("a\nb\nc", "new", &ours), UnitStep::Leave);
    assert_eq!(step("a\nc", "old", &ours), UnitStep::Write);
    assert_eq!(step("a\nb\nc", "new", &[]), UnitStep::Write);
    assert_eq!(step("else", "other", &[]), UnitStep::NotOurs);
    let kept = UnitStep::Keep { difference: "- x\n- y\n+ b".to_owned() };
    assert_eq!(step("a\nx\ny\nc", "edited", &ours), kept);
}

#[test]
fn an_emptied_unit_is_damage_and_a_mask_is_its_owners_will() {
    let ours = ["old".to_owned()];
    for text in ["", "\n", " \t\r\n"] {
        let found = UnitFile::Text { text, hash: "empty" };
        assert_eq!(unit_step(found, &ours, "a"), UnitStep::Write, "{text:?}");
        assert_eq!(unit_step(found, &[], "a"), UnitStep::NotOurs, "{text:?}");
    }
    assert_eq!(unit_step(UnitFile::Mask, &ours, "a"), UnitStep::Masked);
    assert_eq!(unit_step(UnitFile::Mask, &[], "a"), UnitStep::Masked);
}

#[test]
fn what_survives_is_said_as_it_is() {
    let whole = whole();
    let says = |facts: Facts| {
        let found = availability(&facts);
        (found.tier, found.survives_logout, found.survives_reboot, found.why)
    };
    let (tier, logout, reboot, _) = says(whole.clone());
    assert_eq!((tier, logout, reboot), (Tier::SystemdUser, true, true));
    let (_, logout, reboot, why) = says(Facts { lingers: false, ..whole.clone() });
    assert!(!logout && !reboot && why.ends_with("sudo loginctl enable-linger alice"), "{why}");
    let (_, logout, reboot, _) = says(Facts { enabled: false, ..whole.clone() });
    assert!(logout && !reboot);
    let (_, logout, reboot, _) = says(Facts { systemd_is_init: false, ..whole });
    assert!(!logout && !reboot);
}

#[test]
fn of_a_unit_that_does_not_load_nothing_is_claimed() {
    let table = [
        ("masked", "systemctl --user unmask link"),
        ("bad-setting", "bad-setting"),
        ("error", "error"),
        ("not-found", "not-found"),
        ("", "does not answer"),
    ];
    let mut states: Vec<_> =
        table.into_iter().map(|(load_state, words)| (unit_state(load_state), words)).collect();
    states.push((UnitState::Empty, "install again"));
    for (unit, words) in states {
        let found = availability(&Facts { unit: unit.clone(), ..whole() });
        assert!(!found.survives_logout && !found.survives_reboot, "{unit:?}: {found:?}");
        assert_eq!(found.tier, Tier::SystemdUser);
        assert!(found.why.contains(words), "{unit:?}: {found:?}");
    }
    assert_eq!(unit_state("loaded"), UnitState::Loaded);
}

#[test]
fn what_runs_in_the_background_says_what_ends_it() {
    let none = Facts { unit: UnitState::Absent, ..whole() };
    let says = |facts: Facts| {
        let found = availability(&facts);
        assert_eq!((found.tier, found.survives_reboot), (Tier::Detached, false));
        (found.survives_logout, found.why)
    };
    let (logout, why) = says(none.clone());
    assert!(!logout && why.contains("logout ends it"), "{why}");
    assert!(why.ends_with("install again with LINK_SERVICE=systemd"), "{why}");
    let (logout, why) = says(Facts { logout_kills: false, ..none.clone() });
    assert!(logout && why.contains("`link start`, or install again"), "{why}");
    let without = Facts { systemd_is_init: false, logout_kills: false, ..none };
    let (logout, why) = says(without.clone());
    assert!(logout && why.contains("there is no systemd here"), "{why}");
    assert!(why.ends_with("after a reboot run `link start`"), "{why}");
    let (_, why) = says(Facts { start: "link up", ..without.clone() });
    assert!(
        why.ends_with("after a reboot run `link up`"),
        "the backend does not start by itself: {why}"
    );
    let (_, why) = says(Facts { has_cron: true, ..without });
    assert!(why.ends_with("or let your crontab do so (`@reboot`)"), "{why}");
}

#[test]
fn a_system_has_its_own_manager_and_a_manager_its_own_words() {
    let table = [
        ("linux", Manager::Systemd, "systemd"),
        ("macos", Manager::Launchd, "launchd"),
        ("windows", Manager::TaskScheduler, "task"),
    ];
    for (os, manager, word) in table {
        assert_eq!((Manager::of(os), Manager::named(word)), (manager, Some(manager)));
    }
    assert_eq!(Manager::named("cron"), None);
}

#[test]
fn launchd_and_the_task_scheduler_start_it_at_login_and_that_is_said() {
    for (manager, tier) in
        [(Manager::Launchd, Tier::LaunchAgent), (Manager::TaskScheduler, Tier::LogonTask)]
    {
        let says = |facts: Facts| {
            let found = availability(&facts);
            (found.tier, found.survives_logout, found.survives_reboot, found.why)
        };
        let facts = || Facts { manager, ..whole() };
        let (found, logout, reboot, why) = says(facts());
        assert_eq!((found, logout, reboot), (tier, false, false), "{why}");
        assert!(why.contains("ends at log"), "{why}");
        let (.., reboot, why) = says(Facts { enabled: false, ..facts() });
        assert!(!reboot && why.contains("is disabled") && why.contains("`link start`"), "{why}");
        let (found, _, reboot, why) = says(Facts { unit: UnitState::Unknown, ..facts() });
        assert!(found == tier && !reboot && why.contains("does not answer here"), "{why}");
        let (found, _, reboot, why) = says(Facts { unit: UnitState::Absent, ..facts() });
        assert!(found == Tier::Detached && !reboot && why.contains("install again"), "{why}");
        assert!(!why.contains("systemd"), "{why}");
    }
}

fn whole() -> Facts {
    Facts {
        manager: Manager::Systemd,
        unit: UnitState::Loaded,
        enabled: true,
        lingers: true,
        systemd_is_init: true,
        logout_kills: true,
        has_cron: false,
        start: START,
        user: "alice".to_owned(),
    }
}

fn variable(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}
