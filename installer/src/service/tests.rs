//! The unit's text, which way is chosen, what becomes of a unit, and what is promised.

use super::*;

#[test]
fn the_unit_is_this_text() {
    let unit = Unit {
        program: "/home/a b/100%/$x/\"q\"\\/link-guard".into(),
        environment: vec![("LINK_HOME", "/home/a b/100%".to_owned())],
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
        (Wish::Best, false, true, Tier::SystemdUser),
        (Wish::Best, false, false, Tier::Detached),
        (Wish::Best, true, true, Tier::Detached),
        (Wish::Systemd, true, true, Tier::SystemdUser),
        (Wish::Systemd, true, false, Tier::Detached),
        (Wish::Detached, false, true, Tier::Detached),
    ];
    for (wish, own_folder, answers, tier) in table {
        assert_eq!(choose(wish, own_folder, answers), tier, "{wish:?} {own_folder} {answers}");
    }
    assert!(manager_answers("degraded") && manager_answers("running"));
    assert!(!manager_answers("offline") && !manager_answers("") && !manager_answers("unknown"));
}

#[test]
fn a_unit_is_written_over_only_when_nobody_changed_it() {
    let ours = ["old".to_owned(), "new".to_owned()];
    let step = |found, hash, written: &[String]| unit_step(found, hash, written, "a\nb\nc");
    assert_eq!(step(None, "", &[]), UnitStep::Write);
    assert_eq!(step(None, "", &ours), UnitStep::Write);
    assert_eq!(step(Some("a\nb\nc"), "new", &ours), UnitStep::Leave);
    assert_eq!(step(Some("a\nc"), "old", &ours), UnitStep::Write);
    assert_eq!(step(Some("a\nb\nc"), "new", &[]), UnitStep::Write);
    assert_eq!(step(Some("else"), "other", &[]), UnitStep::NotOurs);
    let kept = UnitStep::Keep { difference: "- x\n- y\n+ b".to_owned() };
    assert_eq!(step(Some("a\nx\ny\nc"), "edited", &ours), kept);
}

#[test]
fn what_survives_is_said_as_it_is() {
    let whole = Facts {
        has_unit: true,
        enabled: true,
        manager_answers: true,
        lingers: true,
        systemd_is_init: true,
        logout_kills: true,
        user: "alice".to_owned(),
    };
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
    let (_, logout, reboot, _) = says(Facts { systemd_is_init: false, ..whole.clone() });
    assert!(!logout && !reboot);
    let (tier, logout, reboot, _) = says(Facts { has_unit: false, ..whole.clone() });
    assert_eq!((tier, logout, reboot), (Tier::Detached, false, false));
    let (_, logout, reboot, _) = says(Facts { has_unit: false, logout_kills: false, ..whole });
    assert!(logout && !reboot);
}
