//! `link open`: opens the workspace of this user's backend in a browser, logged in.
//!
//! The browser gets a one-time code in the fragment of the address, which browsers do not send. The
//! address is passed in a private file, because every user of a machine can read command lines.

use link_client::{backend, http::Http};
use link_platform::fs;
use link_protocol::backend_api::local_owner::{OWNER_FOLDER, OwnerCode};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{args::Open, context::Context, error::CliError, local_backend::LocalBackend};

/// The name of the file that redirects the browser to the address.
const FILE: &str = "open.html";

/// An address that logs a browser in.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct Address<'a> {
    /// The address, which works once.
    url: &'a str,
    /// The seconds until the address expires.
    expires_in: u64,
}

pub(super) async fn run(context: &Context, arguments: Open) -> Result<(), CliError> {
    let local = LocalBackend::look(context);
    let owner = local.running()?;
    let http = Http::new(&owner.url)?;
    let code = backend::owner_code(&http, &OwnerCode { proof: owner.proof }).await?;
    let url = format!("{}/workspace#code={}", owner.url, code.code.expose());
    let document = Address { url: &url, expires_in: code.expires_in };
    if arguments.print || context.output.is_json() {
        return context.output.data(&document, |_| url.clone());
    }
    let file = local.folder().join(OWNER_FOLDER).join(FILE);
    fs::write_private(&file, page(&url).as_bytes()).map_err(|error| CliError::file(&error))?;
    let opened = context.environment.has_display.then(|| open::that_detached(&file));
    if let Some(Ok(())) = opened {
        context.output.say(&format!("opened {} in the browser", owner.url));
        return Ok(());
    }
    context.output.say(&format!(
        "no browser can be opened here; open this address in one within {} seconds:",
        code.expires_in
    ));
    context.output.data(&document, |_| url.clone())
}

/// Returns a page that redirects to `url` at once.
fn page(url: &str) -> String {
    // Our addresses contain no special character of HTML.
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Link</title>\n\
         <meta http-equiv=\"refresh\" content=\"0; url={url}\">\n<a href=\"{url}\">Go to Link</a>\n\
         </html>\n",
    )
}
