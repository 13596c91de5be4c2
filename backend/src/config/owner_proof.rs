//! The ways in which the owner of a backend proves their identity.

use std::net::SocketAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the owner of a backend proves their identity.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum OwnerProof {
    /// With the token that the first start prints, once; after that, with a password.
    #[default]
    SetupToken,
    /// With a file in the data folder that only the backend's own user can read. For a backend of
    /// one person that listens only on a loopback address, such as the backend of `link up`.
    File,
}

impl OwnerProof {
    /// Returns the reason why a backend with this proof must not listen on `address`, if there is
    /// one.
    #[must_use]
    pub fn objection(self, address: SocketAddr, is_behind_proxy: bool) -> Option<String> {
        let is_exposed = is_behind_proxy || !address.ip().is_loopback();
        (self == Self::File && is_exposed).then(|| {
            format!(
                "`file` is for a backend that only its own machine reaches, and this one is \
                 reached by others ({address}{}); set `owner_proof = \"setup-token\"`",
                if is_behind_proxy { ", behind a proxy" } else { "" }
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_backend_that_nobody_else_reaches_takes_the_file() {
        let local = SocketAddr::from(([127, 0, 0, 1], 8000));
        let exposed = SocketAddr::from(([0, 0, 0, 0], 8000));
        assert_eq!(OwnerProof::File.objection(local, false), None);
        assert!(OwnerProof::File.objection(exposed, false).is_some());
        assert!(OwnerProof::File.objection(local, true).is_some());
        assert_eq!(OwnerProof::SetupToken.objection(exposed, true), None);
    }
}
