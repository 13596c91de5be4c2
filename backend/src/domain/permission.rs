//! The table of roles and permissions in an account.

use link_protocol::{backend_api::member::Role, permission::Permission};

/// Tells whether members with `role` have `permission`.
#[must_use]
pub const fn allows(role: Role, permission: Permission) -> bool {
    // The lowest role with the permission. Every higher role has it too.
    let least = match permission {
        Permission::ReadAccount
        | Permission::ActInPerson
        | Permission::ReadMembers
        | Permission::ReadDevices
        | Permission::ReadModels
        | Permission::ReadDeployments
        | Permission::ReadCommands
        | Permission::ReadUsage
        | Permission::ReadSettings => Role::Viewer,
        Permission::ReadKeys
        | Permission::OperateDevices
        | Permission::WriteModels
        | Permission::WriteDeployments
        | Permission::OperateServing => Role::Operator,
        Permission::WriteMembers
        | Permission::WriteKeys
        | Permission::WriteDevices
        | Permission::WriteSettings
        | Permission::ReadAudit => Role::Admin,
    };
    rank(role) >= rank(least)
}

const fn rank(role: Role) -> u8 {
    match role {
        Role::Viewer => 0,
        Role::Operator => 1,
        Role::Admin => 2,
        Role::Owner => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_may_do_everything_and_a_viewer_changes_nothing_of_the_account() {
        for permission in Permission::ALL {
            assert!(allows(Role::Owner, *permission));
            let changes = ["write", "operate"].iter().any(|end| permission.as_str().ends_with(end));
            assert!(!(changes && allows(Role::Viewer, *permission)), "{permission}");
        }
    }

    #[test]
    fn a_higher_role_may_do_what_a_lower_one_may() {
        for permission in Permission::ALL {
            let may = Role::ALL.map(|role| allows(role, *permission));
            assert!(may.is_sorted_by(|higher, lower| *higher || !*lower), "{permission}: {may:?}");
        }
    }
}
