//! Where published engines and plugins are looked for.

use link_installer::{engine_download, source::Source};

use crate::{context::Context, error::CliError, resolve};

/// Returns the source that a person has named or, without one, the release source and the backend of this device.
///
/// # Errors
/// If the named source is no address.
pub(super) fn sources(context: &Context, named: Option<&str>) -> Result<Vec<Source>, CliError> {
    if let Some(named) = named {
        let source = Source::parse(named).map_err(|error| CliError::usage(error.to_string()))?;
        return Ok(vec![source]);
    }
    let identity = resolve::identity(context)?;
    let backend = identity.as_ref().map(|identity| identity.backend_url.as_str());
    Ok(engine_download::sources(&context.roots, backend))
}
