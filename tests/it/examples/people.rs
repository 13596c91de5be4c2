//! Accounts, members, tokens and keys, and devices whose agents do not run.

use super::example::{Example, example};

/// With a new backend.
pub(super) const FIRST_ACCOUNT: &[Example] = &[
    example("link account create --backend https://link.example")
        .typed(&[
            ("Setup token: ", "<backend/data/setup-token"),
            ("E-mail", "you@example.com\r"),
            ("New password", "<password.txt"),
            ("Repeat password", "<password.txt"),
        ])
        .shows("created the first account and logged in: you@example.com"),
    // `install.sh` of a backend leaves the address.
    example(
        "link member accept --token-file token.txt --email bob@example.com --password-stdin < password.txt",
    )
    .of("bob")
    .after(
        "link member invite --role admin > token.txt; mkdir -p $PLACE/bob/config
         echo https://link.example > $PLACE/bob/config/backend_url",
    )
    .shows("joined and logged in: bob@example.com"),
    example("link member remove bob@example.com --keys take-over --yes")
        .after("LINK_HOME=$PLACE/bob link key create --kind fleet")
        .shows("took over the fleet key"),
];

/// With another new backend.
pub(super) const PEOPLE: &[Example] = &[
    example(
        "link account create --setup-token-file token.txt --email you@example.com --password-stdin < password.txt",
    )
    .after(
        "cp backend/data/setup-token token.txt; rm -r $PLACE/you/config $PLACE/bob
         mkdir $PLACE/you/config; echo https://link.example > $PLACE/you/config/backend_url",
    )
    .shows("created the first account and logged in: you@example.com"),
    example("link login --backend https://link.example")
        .after("link logout")
        .typed(&[("E-mail", "you@example.com\r"), ("Password: ", "<password.txt")])
        .shows("logged in: you@example.com at https://link.example"),
    example("link login --email you@example.com --backend https://link.example")
        .typed(&[("Password: ", "<password.txt")])
        .shows("logged in: you@example.com at https://link.example"),
    example("link login --email you@example.com --password-stdin < password.txt")
        .shows("logged in: you@example.com at https://link.example"),
    example("link login --device")
        .typed(&[("Open the address in a browser on this machine?", "y")])
        .shows("logged in: you@example.com at https://link.example"),
    example("link whoami").shows("you@example.com"),
    example("link key create --kind registration").shows("lrk_"),
    example("link key create --kind fleet --name lab --max-devices 20 --expires-at 30d")
        .shows("LINK_FLEET_KEY=lfk_"),
    example("link key list").shows("0 of 20"),
    example("link key revoke key_…")
        .typed(&[("No device can register with it afterwards", "y")])
        .shows("revoked key_"),
    example("link key revoke second-floor")
        .after("link key create --kind fleet --name second-floor")
        .typed(&[("No device can register with it afterwards", "y")])
        .shows("revoked `second-floor` (key_"),
    example("link token create --name ci --scope devices:read --scope serving:operate").shows("lpt_"),
    example("link token revoke ci").shows("revoked `ci` (tok_"),
    example("link token create --name ci --scope models:write --expires-at 30d").shows("lpt_"),
    example("link token list").shows("models:write"),
    example("link token revoke tok_…").shows("revoked tok_"),
    example("link allowlist add https://workspace.example").shows("https://workspace.example"),
    example("link allowlist list").shows("https://workspace.example"),
    example("link allowlist remove https://workspace.example").shows("https://workspace.example"),
    example("link completions bash > ~/.local/share/bash-completion/completions/link")
        .after("mkdir -p ~/.local/share/bash-completion/completions"),
    example("link device remove workstation --yes").after(SPARE).shows("removed dev_"),
    example("link device transfer workstation")
        .after(SPARE_FOR_BOB)
        .typed(&[
            ("Key of the receiving account: ", "<key.txt"),
            ("It leaves this account now", "y"),
        ])
        .shows("now belongs to the other account"),
    example("link device transfer workstation --key-file key.txt --yes")
        .after(SPARE_FOR_BOB)
        .shows("now belongs to the other account"),
    example("link device retire lrc_… --backend https://link.example")
        .after(RETIRED)
        .shows("its slot is free"),
    example("link device retire - < code.txt").after(RETIRED).shows("its slot is free"),
    example("link uninstall")
        .of("spare")
        .after(SPARE)
        .typed(&[("Deregister this device and delete Link", "y")])
        .shows("deregistered the device"),
    example("link uninstall --yes").of("spare").after(SPARE).shows("deregistered the device"),
    example("link member invite --role operator").shows("invitation for one person"),
    example("link member invite --role admin --email bob@example.com --expires-at 30d")
        .shows("invitation for one person"),
    example("link member list").shows("bob@example.com"),
    example("link member remove inv_…").shows("withdrew inv_"),
    example("link member accept --email bob@example.com --backend https://link.example")
        .of("bob")
        .after("link member invite --role operator > token.txt")
        .typed(&[
            ("Invitation token: ", "<token.txt"),
            ("New password", "<password.txt"),
            ("Repeat password", "<password.txt"),
        ])
        .shows("joined and logged in: bob@example.com"),
    example("link member role bob@example.com operator").shows("now has the role operator"),
    example("link member remove bob@example.com")
        .typed(&[("Remove bob@example.com from the account?", "y")])
        .shows("removed bob@example.com"),
    example("link member accept --token-file token.txt")
        .of("carol")
        .after(
            "link member invite --role owner > token.txt
             link-backend create-account carol@example.com --data backend/data < password.txt
             LINK_HOME=$PLACE/carol link login --email carol@example.com --password-stdin \
                 --backend https://link.example < password.txt",
        )
        .shows("joined and logged in: carol@example.com"),
    example("link audit").shows("member.join"),
    example("link audit --action member --since yesterday").shows("member.join"),
    example("link login --token-file token.txt")
        .of("carol")
        .after("link token create --name files --scope devices:read > token.txt")
        .shows("logged in: you@example.com"),
    example("link logout").of("carol").shows("the token stays valid"),
    example("link account list").shows("acc_"),
    example("link account use acc_…").shows("switched to acc_"),
    example("link member remove you@example.com --yes").shows("left the account"),
];

/// A registered device called `workstation`.
const SPARE: &str = "LINK_HOME=$PLACE/spare link register --name workstation --new-device \
    --registration-key $(link key create --kind registration) --backend https://link.example";

/// The same device, and a key of another account.
const SPARE_FOR_BOB: &str = "LINK_HOME=$PLACE/spare link register --name workstation --new-device \
    --registration-key $(link key create --kind registration) --backend https://link.example
    if ! [ -e $PLACE/erin ]; then
        link-backend create-account erin@example.com --data backend/data < password.txt
        LINK_HOME=$PLACE/erin link login --email erin@example.com --password-stdin \
            --backend https://link.example < password.txt
    fi
    LINK_HOME=$PLACE/erin link key create --kind registration > key.txt";

/// The code of a device that was uninstalled while nothing led to its backend.
const RETIRED: &str = "LINK_HOME=$PLACE/spare link register --name workstation --new-device \
    --registration-key $(link key create --kind registration) --backend https://link.example
    LINK_HOME=$PLACE/spare HTTPS_PROXY=http://127.0.0.1:9 link uninstall --yes --force > code.txt \
        || [ $? = 61 ]";
