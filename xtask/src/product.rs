//! What generated files are generated from: the product's own definitions, where they exist.

/// Returns the definition of the `link` command.
pub(crate) fn command_line() -> Option<clap::Command> {
    None
}

/// Returns the OpenAPI document of the backend.
pub(crate) fn api_document() -> Option<String> {
    None
}
