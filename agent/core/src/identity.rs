//! Determines the identity of this device from its sources, in order of precedence (specification,
//! section 4.4).

use link_protocol::{config::IdentityConfig, id::DeviceId, identity::Identity};

use crate::session::Session;

/// The identity of this device and its source.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Resolution {
    /// The identity that `link register` wrote.
    Explicit(Identity),
    /// The identity in the latest session, because the file of `link register` is missing or
    /// damaged.
    Session(Identity),
    /// A key is configured: the device registers itself, as `device_id` if that is set.
    Onboard { device_id: Option<DeviceId> },
    /// No source has an identity.
    FactoryDefaults,
}

/// Decides which identity this device has. `explicit` comes from `link register`, `session` is the
/// latest session. If the configuration names a device, identities of other devices are ignored.
#[must_use]
pub fn resolve(
    configured: &IdentityConfig,
    explicit: Option<Identity>,
    session: Option<&Session>,
) -> Resolution {
    let meant = |identity: &Identity| {
        configured.device_id.is_none_or(|device_id| device_id == identity.device_id)
    };
    if let Some(identity) = explicit.filter(meant) {
        return Resolution::Explicit(identity);
    }
    if let Some(identity) = session.map(|session| &session.identity).filter(|one| meant(one)) {
        return Resolution::Session(identity.clone());
    }
    if configured.registration_key_file.is_some() || configured.fleet_key_file.is_some() {
        return Resolution::Onboard { device_id: configured.device_id };
    }
    Resolution::FactoryDefaults
}

#[cfg(test)]
mod tests {
    use link_protocol::{
        counter::Epoch,
        identity::{SCHEMA_VERSION, encode_seed},
        registration::{TransportSettings, TransportType},
        secret::Secret,
    };

    use super::*;
    use crate::{session::SessionFolder, tests::id};
    // Holds: S4.4-14
    #[test]
    fn the_places_count_in_the_specified_order() {
        let keyed = IdentityConfig {
            registration_key_file: Some("key".to_owned()),
            ..IdentityConfig::default()
        };
        let session = Session::after(SessionFolder::default(), identity(2));
        let explicit = || Some(identity(1));
        let resolved = [
            resolve(&keyed, explicit(), Some(&session)),
            resolve(&keyed, None, Some(&session)),
            resolve(&keyed, None, None),
            resolve(&IdentityConfig::default(), None, None),
        ];
        let expected = [
            Resolution::Explicit(identity(1)),
            Resolution::Session(identity(2)),
            Resolution::Onboard { device_id: None },
            Resolution::FactoryDefaults,
        ];
        assert_eq!(resolved, expected);
    }

    #[test]
    fn a_configured_device_leaves_no_other_one() {
        let meant = Some(id(DeviceId::PREFIX, 2));
        let configured = IdentityConfig { device_id: meant, ..IdentityConfig::default() };
        let session = Session::after(SessionFolder::default(), identity(2));
        assert_eq!(
            resolve(&configured, Some(identity(1)), Some(&session)),
            Resolution::Session(identity(2))
        );
        assert_eq!(resolve(&configured, Some(identity(1)), None), Resolution::FactoryDefaults);
        let keyed = IdentityConfig { fleet_key_file: Some("key".to_owned()), ..configured };
        let onboard = Resolution::Onboard { device_id: meant };
        assert_eq!(resolve(&keyed, Some(identity(1)), None), onboard);
    }

    fn identity(number: u64) -> Identity {
        Identity {
            schema_version: SCHEMA_VERSION.to_owned(),
            backend_url: "https://link.example".to_owned(),
            device_id: id(DeviceId::PREFIX, number),
            device_token: Secret::new("token"),
            epoch: Epoch(1),
            transport: TransportSettings { r#type: TransportType::Http },
            backend_keys: Vec::new(),
            private_key_seed: encode_seed(&[3; 32]),
        }
    }
}
