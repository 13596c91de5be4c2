//! The filter of an event stream: kinds of events that the caller may read, and optionally one device.

use link_protocol::{backend_api::event::EventKind, id::DeviceId, permission::Permission};

use crate::domain::{change::Subject, refusal::Refusal};

/// The events that a stream shows.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Filter {
    kinds: Vec<EventKind>,
    device: Option<DeviceId>,
}

impl Filter {
    /// Reads the filter from a list of kinds, separated by commas, for a caller whom `check` grants permissions.
    /// Without a list it has every kind that the caller may read, except log records.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] for an unknown kind, no kind, or log records without a device; the refusal of `check` for
    /// a named kind.
    pub fn new(
        kinds: Option<&str>,
        device: Option<DeviceId>,
        check: impl Fn(Permission) -> Result<(), Refusal>,
    ) -> Result<Self, Refusal> {
        let kinds = match kinds {
            Some(list) => named(list, &check)?,
            None => {
                let readable = |kind: &EventKind| check(permission(*kind)).is_ok();
                let all = EventKind::ALL.iter().copied().filter(|kind| *kind != EventKind::Log);
                all.filter(readable).collect()
            }
        };
        if kinds.contains(&EventKind::Log) && device.is_none() {
            return Err(Refusal::invalid("kinds: `log` needs a `device_id`"));
        }
        Ok(Self { kinds, device })
    }

    /// Tells whether the stream shows events about `subject`.
    #[must_use]
    pub fn wants(&self, subject: Subject) -> bool {
        subject.kind().is_some_and(|kind| self.kinds.contains(&kind))
            && (self.device.is_none() || self.device == subject.device())
    }

    /// Returns the device whose log records the stream shows.
    #[must_use]
    pub fn log(&self) -> Option<DeviceId> {
        self.device.filter(|_| self.kinds.contains(&EventKind::Log))
    }
}

fn named(
    list: &str,
    check: impl Fn(Permission) -> Result<(), Refusal>,
) -> Result<Vec<EventKind>, Refusal> {
    let mut kinds = Vec::new();
    for name in list.split(',') {
        let kind = name.trim().parse::<EventKind>();
        let kind = kind.map_err(|unknown| Refusal::invalid(format!("kinds: {unknown}")))?;
        check(permission(kind))?;
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    Ok(kinds)
}

/// Returns the permission with which a request reads the same documents.
const fn permission(kind: EventKind) -> Permission {
    match kind {
        EventKind::Device
        | EventKind::System
        | EventKind::Operation
        | EventKind::Log
        | EventKind::Summary => Permission::ReadDevices,
        EventKind::Deployment => Permission::ReadDeployments,
        EventKind::Command => Permission::ReadCommands,
        EventKind::Model => Permission::ReadModels,
        EventKind::Key => Permission::ReadKeys,
        EventKind::Member => Permission::ReadMembers,
    }
}

#[cfg(test)]
mod tests {
    use link_protocol::id::{CommandId, KeyId};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn the_default_is_every_kind_that_the_caller_may_read_except_logs() {
        let filter = Filter::new(None, None, no_keys).unwrap();
        assert!(filter.wants(Subject::Device(device(1))) && filter.wants(Subject::Summary));
        assert!(!filter.wants(Subject::Key(key())) && !filter.wants(Subject::Log(device(1), 1)));
        assert!(!filter.wants(Subject::Usage(device(1))));
    }

    #[test]
    fn a_named_kind_needs_its_permission_and_log_a_device() {
        let refused = |kinds, device| Filter::new(Some(kinds), device, no_keys).unwrap_err();
        assert_eq!(refused("device,key", None), Refusal::ScopeMissing(Permission::ReadKeys));
        for (kinds, device) in [("log", None), ("", Some(device(1))), ("device,nonsense", None)] {
            assert!(matches!(refused(kinds, device), Refusal::Invalid(_)), "{kinds}");
        }
        let filter = Filter::new(Some("log, log"), Some(device(1)), no_keys).unwrap();
        assert_eq!(filter.log(), Some(device(1)));
    }

    #[test]
    fn a_device_leaves_only_what_belongs_to_it() {
        let filter = Filter::new(None, Some(device(1)), |_| Ok(())).unwrap();
        let command = CommandId::from_uuid(Uuid::from_u128(9));
        for (subject, wanted) in [
            (Subject::Device(device(1)), true),
            (Subject::Device(device(2)), false),
            (Subject::Command(command, device(1)), true),
            (Subject::Command(command, device(2)), false),
            (Subject::Key(key()), false),
            (Subject::Summary, false),
        ] {
            assert_eq!(filter.wants(subject), wanted, "{subject:?}");
        }
        assert_eq!(filter.log(), None);
    }

    fn no_keys(permission: Permission) -> Result<(), Refusal> {
        match permission == Permission::ReadKeys {
            true => Err(Refusal::ScopeMissing(permission)),
            false => Ok(()),
        }
    }

    fn device(number: u128) -> DeviceId {
        DeviceId::from_uuid(Uuid::from_u128(number))
    }

    fn key() -> KeyId {
        KeyId::from_uuid(Uuid::from_u128(1))
    }
}
