//! The faults of a configuration.

use std::{error::Error, fmt};

/// One fault: the key, the expected value and the actual value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fault {
    /// The key from the root of the file, such as `logging.handlers[1].args.timeout`.
    pub key: String,
    pub expected: String,
    /// The actual value, described without anything that could be a secret.
    pub found: String,
}

/// Every fault of one configuration.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Faults(Vec<Fault>);

impl Faults {
    /// Adds a fault.
    pub fn push(&mut self, fault: Fault) {
        self.0.push(fault);
    }

    /// Returns whether there are no faults.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the faults in the order in which they were found.
    pub fn iter(&self) -> impl Iterator<Item = &Fault> {
        self.0.iter()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}, found {}", self.key, self.expected, self.found)
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, fault) in self.0.iter().enumerate() {
            if place > 0 {
                f.write_str("\n")?;
            }
            write!(f, "  {fault}")?;
        }
        Ok(())
    }
}

impl Error for Faults {}
