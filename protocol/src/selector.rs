//! Selectors of devices, such as `tag=lab,version<1.3.0,state=online`. The API and the command line
//! share one grammar. A selector matches a device if every term matches.
//!
//! ```text
//! selector = term { "," term }
//! term     = "tag" ( "=" | "!=" ) text
//!          | "version" ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) semantic version
//!          | "state" ( "=" | "!=" ) ( "online" | "offline" | "updating" )
//!          | "update" ( "=" | "!=" ) ( "committed" | "rolled_back" )
//!          | "disk" ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) 0 to 100
//! ```
//!
//! `update` is the end of the last update: a device without one has neither end. `disk` is the used share of the disk in
//! whole percent: a device that reports no disk matches no such term.

use std::{cmp::Ordering, fmt, str::FromStr};

use semver::Version;

use crate::{
    backend_api::device::Device, report::LifecycleStatus, system::DiskUsage, update::UpdateEnd,
};

/// The longest text of a selector, in bytes.
pub const LONGEST: usize = 500;
/// The most terms of one selector.
const MOST_TERMS: usize = 20;

/// A selection of devices.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Selector(Vec<Term>);

/// The state of a device in a selector.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum DeviceState {
    Online,
    Offline,
    Updating,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Term {
    Tag { is: bool, tag: String },
    Version { comparison: Comparison, version: Version },
    State { is: bool, state: DeviceState },
    Update { is: bool, end: UpdateEnd },
    Disk { comparison: Comparison, percent: u8 },
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Comparison {
    Is,
    IsNot,
    Below,
    AtMost,
    Above,
    AtLeast,
}

/// The text is not a selector.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("term {place} of the selection, `{term}`: {why}")]
pub struct InvalidSelector {
    /// The position of the fault, counted from 1.
    pub place: usize,
    pub term: String,
    pub why: String,
}

/// Longer operators come first, so that `<=` is not read as `<`.
const COMPARISONS: [(&str, Comparison); 6] = [
    ("!=", Comparison::IsNot),
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("=", Comparison::Is),
    ("<", Comparison::Below),
    (">", Comparison::Above),
];

impl DeviceState {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Online, Self::Offline, Self::Updating];

    /// Returns the state of `device`.
    #[must_use]
    pub fn of(device: &Device) -> Self {
        match (device.online, device.status) {
            (true, LifecycleStatus::Updating) => Self::Updating,
            (true, _) => Self::Online,
            (false, _) => Self::Offline,
        }
    }

    /// Returns the state's name in a selector.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Online => "online",
            Self::Offline => "offline",
            Self::Updating => "updating",
        }
    }
}

impl Selector {
    /// Returns whether the selector matches `device`.
    #[must_use]
    pub fn matches(&self, device: &Device) -> bool {
        self.0.iter().all(|term| term.matches(device))
    }

    /// Returns a tag that every matching device has, if a term requires one.
    #[must_use]
    pub fn tag(&self) -> Option<&str> {
        self.0.iter().find_map(|term| match term {
            Term::Tag { is: true, tag } => Some(tag.as_str()),
            Term::Tag { is: false, .. }
            | Term::Version { .. }
            | Term::State { .. }
            | Term::Update { .. }
            | Term::Disk { .. } => None,
        })
    }

    /// Returns whether the selector matches only devices that are online or updating.
    #[must_use]
    pub fn needs_online(&self) -> bool {
        self.0.iter().any(|term| match term {
            Term::State { is, state: DeviceState::Online | DeviceState::Updating } => *is,
            Term::State { is, state: DeviceState::Offline } => !is,
            Term::Tag { .. } | Term::Version { .. } | Term::Update { .. } | Term::Disk { .. } => {
                false
            }
        })
    }
}

impl Term {
    fn matches(&self, device: &Device) -> bool {
        match self {
            Self::Tag { is, tag } => device.tags.contains(tag) == *is,
            Self::Version { comparison, version } => {
                comparison.holds(device.agent_version.cmp_precedence(version))
            }
            Self::State { is, state } => (DeviceState::of(device) == *state) == *is,
            Self::Update { is, end } => {
                let last = device.last_update.as_ref().map(|update| update.outcome);
                (last == Some(*end)) == *is
            }
            Self::Disk { comparison, percent } => {
                let disk = device.system.as_ref().and_then(|system| system.report.disk);
                let used = disk.and_then(DiskUsage::used_percent);
                used.is_some_and(|used| comparison.holds(used.cmp(percent)))
            }
        }
    }
}

impl Comparison {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Is => order.is_eq(),
            Self::IsNot => order.is_ne(),
            Self::Below => order.is_lt(),
            Self::AtMost => order.is_le(),
            Self::Above => order.is_gt(),
            Self::AtLeast => order.is_ge(),
        }
    }

    const fn sign(self) -> &'static str {
        match self {
            Self::Is => "=",
            Self::IsNot => "!=",
            Self::Below => "<",
            Self::AtMost => "<=",
            Self::Above => ">",
            Self::AtLeast => ">=",
        }
    }
}

impl FromStr for Selector {
    type Err = InvalidSelector;

    fn from_str(text: &str) -> Result<Self, InvalidSelector> {
        let fault = |place, term: &str, why: &str| InvalidSelector {
            place,
            term: term.chars().take(60).collect(),
            why: why.to_owned(),
        };
        if text.len() > LONGEST {
            return Err(fault(1, text, "the selection is longer than 500 bytes"));
        }
        let mut terms = Vec::new();
        for (place, text) in text.split(',').enumerate() {
            let term = text.trim();
            if place >= MOST_TERMS {
                return Err(fault(place + 1, term, "a selection has up to 20 terms"));
            }
            terms.push(parse(term).map_err(|why| fault(place + 1, term, &why))?);
        }
        Ok(Self(terms))
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, term) in self.0.iter().enumerate() {
            if place > 0 {
                f.write_str(",")?;
            }
            let sign = |is| if is { "=" } else { "!=" };
            match term {
                Term::Tag { is, tag } => write!(f, "tag{}{tag}", sign(*is))?,
                Term::Version { comparison, version } => {
                    write!(f, "version{}{version}", comparison.sign())?;
                }
                Term::State { is, state } => write!(f, "state{}{}", sign(*is), state.as_str())?,
                Term::Update { is, end } => write!(f, "update{}{}", sign(*is), end.as_str())?,
                Term::Disk { comparison, percent } => {
                    write!(f, "disk{}{percent}", comparison.sign())?;
                }
            }
        }
        Ok(())
    }
}

fn parse(term: &str) -> Result<Term, String> {
    let usage =
        "expected `tag=…`, `version<1.2.3`, `state=online`, `update=rolled_back` or `disk>=90`";
    let end = term.find(['=', '!', '<', '>']).ok_or(usage)?;
    let (name, rest) = term.split_at(end);
    let found = COMPARISONS.iter().find_map(|(sign, it)| Some((*it, rest.strip_prefix(sign)?)));
    let (comparison, value) = found.ok_or(usage)?;
    let value = value.trim();
    let equality = || match comparison {
        Comparison::Is => Ok(true),
        Comparison::IsNot => Ok(false),
        Comparison::Below | Comparison::AtMost | Comparison::Above | Comparison::AtLeast => {
            Err(format!("only `version` and `disk` have an order; use `{}=` or `!=`", name.trim()))
        }
    };
    match name.trim() {
        "tag" if value.is_empty() => Err("the tag is empty".to_owned()),
        "tag" => Ok(Term::Tag { is: equality()?, tag: value.to_owned() }),
        "version" => {
            let why = |error| format!("`{value}` is not a version such as 1.3.0 ({error})");
            Ok(Term::Version { comparison, version: value.parse().map_err(why)? })
        }
        "state" => {
            let is = equality()?;
            let state = DeviceState::ALL.into_iter().find(|state| state.as_str() == value);
            let state = state.ok_or("a state is `online`, `offline` or `updating`")?;
            Ok(Term::State { is, state })
        }
        "update" => {
            let is = equality()?;
            let end = UpdateEnd::ALL.into_iter().find(|end| end.as_str() == value);
            Ok(Term::Update { is, end: end.ok_or("an update is `committed` or `rolled_back`")? })
        }
        "disk" => match value.parse() {
            Ok(percent @ 0..=100) => Ok(Term::Disk { comparison, percent }),
            Ok(_) | Err(_) => Err(format!("`{value}` is not a share of a disk: 0 to 100 percent")),
        },
        _ => Err(usage.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_meant_when_every_term_fits() {
        let device = device();
        for (text, meant) in [
            ("tag=lab", true),
            ("tag=home", false),
            ("tag!=home", true),
            ("version=1.3.0", true),
            ("version<1.3.0", false),
            ("version<=1.3.0", true),
            ("version>1.3.0-beta.1", true),
            ("version!=1.3.0", false),
            ("state=online", true),
            ("state!=online", false),
            ("tag=lab, tag=second floor , version>=1.2.0,state=online", true),
            ("tag=lab,state=offline", false),
            ("update=rolled_back", true),
            ("update!=committed", true),
            ("update=committed", false),
            ("disk>=90", true),
            ("disk=90", true),
            ("disk<90", false),
            ("disk>90", false),
        ] {
            assert_eq!(text.parse::<Selector>().unwrap().matches(&device), meant, "{text}");
        }
        let updating = Device { status: LifecycleStatus::Updating, ..device.clone() };
        assert!("state=updating".parse::<Selector>().unwrap().matches(&updating));
        let narrowed = |text: &str| {
            let selector: Selector = text.parse().unwrap();
            (selector.tag().map(str::to_owned), selector.needs_online())
        };
        assert_eq!(narrowed("tag!=a,tag=b,state=online"), (Some("b".to_owned()), true));
        assert_eq!(narrowed("state!=offline"), (None, true));
        assert_eq!(narrowed("version=1.0.0,state!=updating"), (None, false));
        let unknown = Device { last_update: None, system: None, ..updating.clone() };
        for (text, meant) in [
            ("update=rolled_back", false),
            ("update!=committed", true),
            ("disk<90", false),
            ("disk>=0", false),
        ] {
            assert_eq!(text.parse::<Selector>().unwrap().matches(&unknown), meant, "{text}");
        }
        let offline = Device { online: false, ..updating };
        assert!("state=offline".parse::<Selector>().unwrap().matches(&offline));
    }

    #[test]
    fn a_fault_names_its_term_and_what_belongs_there() {
        for (text, place, why) in [
            ("", 1, "expected `tag=…`"),
            ("tag=lab,", 2, "expected `tag=…`"),
            ("tag=", 1, "the tag is empty"),
            ("tag<lab", 1, "only `version` and `disk` have an order"),
            ("update=failed", 1, "an update is `committed`"),
            ("update>committed", 1, "only `version` and `disk` have an order"),
            ("disk>=101", 1, "`101` is not a share of a disk"),
            ("disk=full", 1, "`full` is not a share of a disk"),
            ("tag=lab,version<1.3", 2, "`1.3` is not a version"),
            ("state=asleep", 1, "a state is `online`"),
            ("size=3", 1, "expected `tag=…`"),
            ("version!1.0.0", 1, "expected `tag=…`"),
        ] {
            let error = text.parse::<Selector>().unwrap_err();
            assert_eq!(error.place, place, "{text}");
            assert!(error.why.starts_with(why), "{text}: {}", error.why);
        }
        assert!(["tag=a"; 21].join(",").parse::<Selector>().is_err());
        assert!(format!("tag={}", "x".repeat(LONGEST)).parse::<Selector>().is_err());
    }

    #[test]
    fn a_selector_reads_back_as_it_is_written() {
        for text in [
            "tag=lab,version<1.3.0,state!=online",
            "version>=1.0.0-rc.1",
            "tag!=a b",
            "update=rolled_back,disk>=90",
        ] {
            assert_eq!(text.parse::<Selector>().unwrap().to_string(), text);
        }
    }

    fn device() -> Device {
        let value = serde_json::json!({
            "device_id": format!("dev_{:032x}", 1), "name": "box", "online": true,
            "status": "online", "agent_version": "1.3.0", "tags": ["lab", "second floor"],
            "platform": { "os": "linux", "arch": "x86_64", "hostname": "box" },
            "registered_at": "2026-08-07T12:00:00Z", "last_seen_at": null,
            "last_update": { "from": "1.3.0", "to": "1.4.0", "outcome": "rolled_back" },
            "system": {
                "reported_at": "2026-08-07T12:00:00Z", "cpu_percent": 0, "cpu_count": 1,
                "memory": { "used_bytes": 1, "total_bytes": 2 },
                "disk": { "used_bytes": 800, "free_bytes": 91, "total_bytes": 1000 },
                "agent": { "cpu_percent": 0, "memory_bytes": 1 },
            },
        });
        serde_json::from_value(value).unwrap()
    }
}
