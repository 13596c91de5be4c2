//! Updates of a device that `install.sh` has installed from a release.

use super::example::{Example, example};

/// Installs the release, and registers the device `workstation` with the tag `lab`.
pub(super) const INSTALL: &str =
    "export LINK_REGISTRATION_KEY=$(link key create --kind registration --tag lab)
    LINK_BACKEND_URL=https://link.example sh $CHECKOUT/scripts/install.sh
    link device rename $(link device list | grep -o 'dev_[0-9a-f]*') workstation";

/// With a newer release.
pub(super) const INSTALLED: &[Example] = &[
    example("link update --check").shows("version 1.4.0 is available"),
    example("link device update --select 'tag=lab,version<1.4.0' --to 1.4.0 --dry-run")
        .shows("workstation"),
    example("link device update workstation --to 1.4.0 --wait").shows("takes over now"),
    example("link update").shows("version 1.4.0 is the newest"),
    example("link update --to 1.4.0").shows("version 1.4.0 is installed"),
    example("link device update workstation --to 1.4.0").shows("cmd_"),
];
