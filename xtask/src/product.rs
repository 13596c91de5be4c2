//! What generated files are generated from: the product's own definitions, and nothing else.

/// Returns the definition of the `link` command.
pub(crate) fn command_line() -> clap::Command {
    link_cli::command()
}

/// Returns the OpenAPI document of the backend.
pub(crate) fn api_document() -> String {
    link_backend::openapi_json()
}
