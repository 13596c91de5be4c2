//! Models and devices by what a person calls them: an id, a unique name, or "this machine".

use link_client::backend::BackendClient;
use link_platform::fs;
use link_protocol::{
    backend_api::{device::Device, model::Model},
    id::{DeviceId, ModelId},
    identity::Identity,
};

use crate::{context::Context, error::CliError, exit_code::ExitCode};

/// Returns the identity of this machine's device; nothing when it is not registered.
///
/// # Errors
/// When the file cannot be read or is damaged.
pub(crate) fn identity(context: &Context) -> Result<Option<Identity>, CliError> {
    let path = context.roots.identity();
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(CliError::file(&error)),
    };
    Identity::parse(&text).map(Some).map_err(|error| {
        CliError::new(
            ExitCode::NotRegistered,
            "identity",
            format!("cannot use `{}`: {error}", path.display()),
        )
        .hint("remove the file and register again with `link register`")
    })
}

/// Returns the device that is meant: the named one, or this machine's.
///
/// # Errors
/// When the name fits none or several, or this machine is not registered.
pub(crate) async fn device(
    context: &Context,
    backend: &BackendClient,
    named: Option<&str>,
) -> Result<DeviceId, CliError> {
    let Some(named) = named else {
        return identity(context)?.map(|identity| identity.device_id).ok_or_else(|| {
            CliError::usage("which device? this machine is not registered")
                .hint("name one with --device, or register this machine with `link register`")
        });
    };
    if let Ok(id) = named.parse() {
        return Ok(id);
    }
    let device = pick("device", named, backend.devices().await?, |device: &Device| {
        (device.name.clone(), device.device_id.to_string())
    })?;
    Ok(device.device_id)
}

/// Returns the model that is meant.
///
/// # Errors
/// When the name fits none or several.
pub(crate) async fn model(backend: &BackendClient, named: &str) -> Result<Model, CliError> {
    if let Ok(id) = named.parse::<ModelId>() {
        return Ok(backend.model(id).await?);
    }
    pick("model", named, backend.models().await?, |model: &Model| {
        (model.name.clone(), model.model_id.to_string())
    })
}

/// Returns the one item of the name.
fn pick<T>(
    what: &str,
    named: &str,
    items: Vec<T>,
    describe: impl Fn(&T) -> (String, String),
) -> Result<T, CliError> {
    let (mut fitting, others): (Vec<_>, Vec<_>) =
        items.into_iter().partition(|item| describe(item).0 == named);
    match fitting.len() {
        1 => Ok(fitting.remove(0)),
        0 => {
            let names: Vec<_> = others.iter().map(|item| describe(item).0).take(5).collect();
            let hint = if names.is_empty() {
                format!("there is no {what} yet")
            } else {
                format!("there is: {}; see `link {what} list`", names.join(", "))
            };
            let message = format!("no {what} is called `{named}`");
            Err(CliError::new(ExitCode::Failed, "unknown-name", message).hint(hint))
        }
        count => {
            let ids: Vec<_> = fitting.iter().map(|item| describe(item).1).take(5).collect();
            let message = format!("{count} {what}s are called `{named}`");
            Err(CliError::new(ExitCode::Failed, "ambiguous-name", message)
                .hint(format!("use the id: {}", ids.join(", "))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_must_fit_exactly_one() {
        let items = || vec![("a", "1"), ("b", "2"), ("b", "3")];
        let picked = |named| {
            pick("model", named, items(), |item| (item.0.to_owned(), item.1.to_owned()))
                .map_err(|error| (error.message, error.hint.unwrap_or_default()))
        };
        assert_eq!(picked("a"), Ok(("a", "1")));
        let twice = ("2 models are called `b`".to_owned(), "use the id: 2, 3".to_owned());
        assert_eq!(picked("b"), Err(twice));
        let (message, hint) = picked("c").unwrap_err();
        assert_eq!(message, "no model is called `c`");
        assert_eq!(hint, "there is: a, b, b; see `link model list`");
    }
}
