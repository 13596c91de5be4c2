//! Checks the request for an operation: the permission for its kind, its tags, its name pattern and its number of
//! devices.

use link_protocol::{
    backend_api::{
        device::Device,
        operation::{CreateOperation, Work},
    },
    limits,
    permission::Permission,
    selector::Selector,
};

use crate::domain::{name, refusal::Refusal, tag, version};

/// The placeholders that a name pattern may contain.
const PLACEHOLDERS: [&str; 3] = ["{n}", "{name}", "{hostname}"];

/// The longest text of a selection, in bytes: 20 terms with the longest tags have less.
const LONGEST_SELECTION: usize = 4_000;

/// The selection of devices.
#[derive(Clone, Debug)]
pub enum Chosen {
    Select(Selector),
    Named(Vec<link_protocol::id::DeviceId>),
}

impl Chosen {
    /// Returns the selection of a request.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] if the request selects no devices, selects them in two ways, or names more than the maximum
    /// number.
    pub fn of(wish: &CreateOperation) -> Result<Self, Refusal> {
        match (&wish.select, &wish.devices) {
            (Some(text), None) => {
                if text.len() > LONGEST_SELECTION {
                    let most = format!("select: has at most {LONGEST_SELECTION} characters");
                    return Err(Refusal::invalid(most));
                }
                let selector = text.parse::<Selector>();
                let refused = |fault| Refusal::invalid(format!("select: {fault}"));
                selector.map(Self::Select).map_err(refused)
            }
            (None, Some(devices)) if devices.len() > limits::OPERATION_DEVICES as usize => {
                Err(too_many())
            }
            (None, Some(devices)) => Ok(Self::Named(devices.clone())),
            (None, None) | (Some(_), Some(_)) => {
                Err(Refusal::invalid("give either `select` or `devices`"))
            }
        }
    }

    /// Returns the selected devices among `devices`, ordered by registration time, oldest first.
    ///
    /// # Errors
    /// [`Refusal::NothingSelected`] if no device is selected, [`Refusal::Invalid`] if too many are.
    pub fn among(&self, devices: Vec<Device>) -> Result<Vec<Device>, Refusal> {
        let mut meant: Vec<Device> = match self {
            Self::Select(selector) => {
                devices.into_iter().filter(|device| selector.matches(device)).collect()
            }
            Self::Named(ids) => {
                let ids: std::collections::HashSet<_> = ids.iter().collect();
                devices.into_iter().filter(|device| ids.contains(&device.device_id)).collect()
            }
        };
        if meant.is_empty() {
            return Err(Refusal::NothingSelected(match self {
                Self::Select(selector) => format!("no device fits `{selector}`"),
                Self::Named(_) => "none of these devices is in the account".to_owned(),
            }));
        }
        if meant.len() > limits::OPERATION_DEVICES as usize {
            return Err(too_many());
        }
        meant.sort_unstable_by_key(|device| device.device_id);
        Ok(meant)
    }
}

/// Returns the permission that the work on one device needs.
#[must_use]
pub const fn permission(work: &Work) -> Permission {
    match work {
        Work::Deploy { .. } | Work::Remove { .. } => Permission::WriteDeployments,
        Work::Repair { .. } | Work::Serve { .. } | Work::Stop { .. } => Permission::OperateServing,
        Work::Update { .. } | Work::Tag { .. } | Work::Untag { .. } | Work::Rename { .. } => {
            Permission::OperateDevices
        }
    }
}

/// Checks the parts of the work that do not depend on the device.
///
/// # Errors
/// [`Refusal::Invalid`].
pub fn check(work: &Work) -> Result<(), Refusal> {
    match work {
        Work::Tag { tags } | Work::Untag { tags } => {
            if tags.is_empty() || tags.len() > tag::MOST {
                return Err(Refusal::invalid(format!("tags: are 1 to {}", tag::MOST)));
            }
            tags.iter().try_for_each(|tag| tag::checked(tag).map(drop))
        }
        Work::Rename { pattern } => check_pattern(pattern),
        Work::Update { version } => version::check(version),
        Work::Deploy { .. }
        | Work::Repair { .. }
        | Work::Serve { .. }
        | Work::Stop { .. }
        | Work::Remove { .. } => Ok(()),
    }
}

/// Returns the names that `work` gives to `devices`, or none if `work` does not rename.
///
/// # Errors
/// [`Refusal::Invalid`] for a name that is too long.
pub fn new_names(work: &Work, devices: &[Device]) -> Result<Vec<Option<String>>, Refusal> {
    let Work::Rename { pattern } = work else {
        return Ok(vec![None; devices.len()]);
    };
    let width = devices.len().to_string().len();
    let name = |(place, device): (usize, &Device)| {
        let number = format!("{:0width$}", place + 1);
        let name = pattern
            .replace("{n}", &number)
            .replace("{hostname}", &device.platform.hostname)
            .replace("{name}", &device.name);
        name::checked("pattern", &name).map(Some)
    };
    devices.iter().enumerate().map(name).collect()
}

fn check_pattern(pattern: &str) -> Result<(), Refusal> {
    let rest = PLACEHOLDERS.iter().fold(pattern.to_owned(), |text, known| text.replace(known, ""));
    if rest.contains(['{', '}']) || rest.len() == pattern.len() {
        let known = PLACEHOLDERS.join(", ");
        return Err(Refusal::invalid(format!("pattern: holds at least one of {known}")));
    }
    name::optional("pattern", pattern).map(drop)
}

fn too_many() -> Refusal {
    let most = limits::OPERATION_DEVICES;
    Refusal::invalid(format!("an operation has at most {most} devices: narrow the selection"))
}
