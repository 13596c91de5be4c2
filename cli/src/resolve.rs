//! Finds models, devices and members by an id or a unique name, or finds this machine's device. A name
//! without a publisher never selects another account's model.

use link_client::backend::BackendClient;
use link_platform::fs;
use link_protocol::{
    backend_api::{device::Device, key::KeyInfo, member::Member, model::Model},
    exit_code::ExitCode,
    id::{DeviceId, KeyId, ModelId, TokenId},
    identity::Identity,
};

use crate::{context::Context, error::CliError, error_code::ErrorCode};

/// A kind of things that commands find by an id or a name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    Command,
    Device,
    Key,
    Model,
    Operation,
    Token,
}

impl Kind {
    /// Returns the word for one thing of this kind.
    const fn word(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Device => "device",
            Self::Key => "key",
            Self::Model => "model",
            Self::Operation => "operation",
            Self::Token => "token",
        }
    }

    /// Returns the command that lists the things of this kind.
    const fn list(self) -> &'static str {
        match self {
            Self::Command => "link commands list",
            Self::Device => "link device list",
            Self::Key => "link key list",
            Self::Model => "link model list",
            Self::Operation => "link operation list",
            Self::Token => "link token list",
        }
    }

    /// Returns how to make the first thing of this kind.
    const fn how_to_add(self) -> &'static str {
        match self {
            Self::Command => "a command is sent when you change a device or a model on it",
            Self::Device => "`link key create --kind registration` prints the lines that add one",
            Self::Key => "create one with `link key create`",
            Self::Model => "add one with `link model add FILE`",
            Self::Operation => "an operation begins when you change many devices at once",
            Self::Token => "create one with `link token create`",
        }
    }
}

/// Returns the identity of this machine's device. None if it is not registered.
///
/// # Errors
/// If the file cannot be read or is damaged.
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
            ErrorCode::Identity,
            format!("cannot use `{}`: {error}", path.display()),
        )
        .hint("remove the file and register again with `link register`")
    })
}

/// Returns the named device, or this machine's device if no name is given.
///
/// # Errors
/// If no device or several devices have the name, or this machine is not registered.
pub(crate) async fn device(
    context: &Context,
    backend: &BackendClient,
    named: Option<&str>,
) -> Result<DeviceId, CliError> {
    let Some(named) = named else {
        return identity(context)?.map(|identity| identity.device_id).ok_or_else(|| {
            CliError::usage("no device was named, and this machine is not registered")
                .hint("name one with --device, or register this machine with `link register`")
        });
    };
    if let Ok(id) = named.parse() {
        return Ok(id);
    }
    let device =
        pick(Kind::Device, named, backend.devices().await?, |device: &Device| Described {
            name: device.name.clone(),
            id: device.device_id.to_string(),
            is_incomplete: false,
        })?;
    Ok(device.device_id)
}

/// Returns the named model. A name without a publisher selects one of the account's own models,
/// `publisher/name` one of another account.
///
/// # Errors
/// If no model or several models have the name.
pub(crate) async fn model(backend: &BackendClient, named: &str) -> Result<Model, CliError> {
    if let Ok(id) = named.parse::<ModelId>() {
        return Ok(backend.model(id).await?);
    }
    among(backend.models().await?, named)
}

/// Finds a member by the e-mail or the id.
///
/// # Errors
/// If no member has it.
pub(crate) async fn member(backend: &BackendClient, named: &str) -> Result<Member, CliError> {
    let members = backend.members().await?;
    let wanted = named.trim().to_lowercase();
    let fits = |member: &Member| member.email == wanted || member.user_id.to_string() == wanted;
    members.into_iter().find(fits).ok_or_else(|| {
        let message = format!("no member has the e-mail or id `{named}`");
        CliError::new(ExitCode::Failed, ErrorCode::UnknownName, message)
            .hint("see `link member list`")
    })
}

/// Finds a key by its id or its name. A revoked key of the same name is not meant.
///
/// # Errors
/// If no key or several keys have the name.
pub(crate) async fn key(backend: &BackendClient, named: &str) -> Result<KeyId, CliError> {
    if let Ok(id) = named.parse() {
        return Ok(id);
    }
    Ok(key_among(backend.keys().await?, named)?.key_id)
}

fn key_among(mut keys: Vec<KeyInfo>, named: &str) -> Result<KeyInfo, CliError> {
    if keys.iter().any(|key| key.name == named && !key.revoked) {
        keys.retain(|key| !key.revoked);
    }
    pick(Kind::Key, named, keys, |key| Described {
        name: key.name.clone(),
        id: key.key_id.to_string(),
        is_incomplete: false,
    })
}

/// Finds a personal access token by its id or its name.
///
/// # Errors
/// If no token or several tokens have the name.
pub(crate) async fn token(backend: &BackendClient, named: &str) -> Result<TokenId, CliError> {
    if let Ok(id) = named.parse() {
        return Ok(id);
    }
    let token = pick(Kind::Token, named, backend.personal_tokens().await?, |token| Described {
        name: token.name.clone(),
        id: token.token_id.to_string(),
        is_incomplete: false,
    })?;
    Ok(token.token_id)
}

/// Returns the name by which commands find a model. For another account's model it includes the
/// publisher.
pub(crate) fn called(model: &Model) -> String {
    if model.owned { model.name.clone() } else { qualified(model) }
}

/// Returns a model's name for messages. For a shared model it includes the publisher.
pub(crate) fn told(model: &Model) -> String {
    match &model.publisher {
        Some(publisher) if !model.owned && model.shared => {
            format!("`{}` (shared by {publisher})", called(model))
        }
        Some(_) | None => format!("`{}`", called(model)),
    }
}

/// Returns how messages call a thing with this id that a person has named. The name stands beside the id if it is not the
/// beginning of it.
pub(crate) fn told_by_id(named: &str, id: impl ToString) -> String {
    let id = id.to_string();
    if id.starts_with(named) { id } else { format!("`{named}` ({id})") }
}

fn qualified(model: &Model) -> String {
    match &model.publisher {
        Some(publisher) => format!("{publisher}/{}", model.name),
        // An older backend does not report the publisher.
        None => model.model_id.to_string(),
    }
}

fn among(models: Vec<Model>, named: &str) -> Result<Model, CliError> {
    let is_own = |model: &Model| model.owned && model.name == named;
    if models.iter().any(is_own) {
        let own: Vec<_> = models.into_iter().filter(is_own).collect();
        return pick(Kind::Model, named, own, |model| described(model, model.name.clone()));
    }
    let of_others: Vec<_> =
        models.iter().filter(|model| model.name == named).map(qualified).take(5).collect();
    if !of_others.is_empty() {
        let message = format!("no model of yours is called `{named}`");
        return Err(CliError::new(ExitCode::Failed, ErrorCode::UnknownName, message)
            .hint(format!("others share models of this name: {}", of_others.join(", "))));
    }
    // The account's own models also match by `publisher/name`, as other accounts call them.
    let name = |model: &Model| {
        if qualified(model) == named { named.to_owned() } else { called(model) }
    };
    pick(Kind::Model, named, models, |model| described(model, name(model)))
}

fn described(model: &Model, name: String) -> Described {
    Described { name, id: model.model_id.to_string(), is_incomplete: !model.ready }
}

/// Returns the id that begins with `text`.
///
/// # Errors
/// If no id or several ids begin with `text`.
pub(crate) fn by_prefix<I: Clone + ToString>(
    kind: Kind,
    text: &str,
    ids: impl Iterator<Item = I>,
) -> Result<I, CliError> {
    let is_it = |id: &I| begins(&id.to_string(), text);
    let mut ids = ids.peekable();
    let has_any = ids.peek().is_some();
    let fitting: Vec<I> = ids.filter(is_it).collect();
    match fitting.as_slice() {
        [id] => Ok(id.clone()),
        [] => {
            let message = format!("no {} has an id that begins with `{text}`", kind.word());
            let hint = if has_any {
                format!("see `{}`", kind.list())
            } else {
                format!("there is no {} yet: {}", kind.word(), kind.how_to_add())
            };
            Err(CliError::new(ExitCode::Failed, ErrorCode::UnknownName, message).hint(hint))
        }
        several => {
            let (number, word) = (several.len(), kind.word());
            let message = format!("{number} {word}s have an id that begins with `{text}`");
            let ids: Vec<_> = several.iter().map(ToString::to_string).take(5).collect();
            Err(CliError::new(ExitCode::Failed, ErrorCode::AmbiguousName, message)
                .hint(format!("use more of the id: {}", ids.join(", "))))
        }
    }
}

/// Returns whether `text` is the beginning of an id, as tables show it on a terminal.
fn begins(id: &str, text: &str) -> bool {
    id.split_once('_')
        .is_some_and(|(prefix, _)| text.len() > prefix.len() + 1 && id.starts_with(text))
}

/// What a message says of a model or a device.
struct Described {
    name: String,
    id: String,
    /// Whether the file of a model is not complete yet.
    is_incomplete: bool,
}

/// Returns the only item with this name or, if there is none, the only one whose id begins with it.
fn pick<T>(
    kind: Kind,
    named: &str,
    items: Vec<T>,
    describe: impl Fn(&T) -> Described,
) -> Result<T, CliError> {
    let (mut fitting, mut others): (Vec<_>, Vec<_>) =
        items.into_iter().partition(|item| describe(item).name == named);
    if fitting.is_empty() {
        (fitting, others) =
            others.into_iter().partition(|item: &T| begins(&describe(item).id, named));
    }
    let word = kind.word();
    match fitting.len() {
        1 => Ok(fitting.remove(0)),
        0 => {
            let called = |item: &T| {
                let Described { name, id, .. } = describe(item);
                if name.is_empty() { id } else { name }
            };
            let names: Vec<_> = others.iter().map(called).take(5).collect();
            let hint = if names.is_empty() {
                format!("there is no {word} yet: {}", kind.how_to_add())
            } else {
                format!("there is: {}; see `{}`", names.join(", "), kind.list())
            };
            let message = format!("no {word} is called `{named}`");
            Err(CliError::new(ExitCode::Failed, ErrorCode::UnknownName, message).hint(hint))
        }
        count => {
            let id = |item: &T| {
                let Described { id, is_incomplete, .. } = describe(item);
                if is_incomplete { format!("{id} (incomplete)") } else { id }
            };
            let ids: Vec<_> = fitting.iter().map(id).take(5).collect();
            let message = format!("{count} {word}s are called `{named}`");
            Err(CliError::new(ExitCode::Failed, ErrorCode::AmbiguousName, message)
                .hint(format!("use the id: {}", ids.join(", "))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_of_our_own_and_another_accounts_only_with_its_publisher() {
        let models = || {
            vec![
                shown(1, "llama", "ada", true),
                shown(2, "llama", "bob", false),
                shown(3, "qwen", "bob", false),
                shown(4, "twice", "bob", false),
                shown(5, "twice", "bob", false),
                shown(6, "bob/qwen", "ada", true),
            ]
        };
        let found = |named: &str| {
            among(models(), named)
                .map(|model| model.model_id.uuid().as_u128())
                .map_err(|error| (error.message, error.hint.unwrap_or_default()))
        };
        assert_eq!(found("llama"), Ok(1), "a stranger's model of the same name is in nobody's way");
        assert_eq!(found("ada/llama"), Ok(1));
        assert_eq!(found("bob/llama"), Ok(2));
        assert_eq!(found("bob/qwen"), Ok(6), "our own comes first, whatever it is called");
        let (message, hint) = found("qwen").unwrap_err();
        assert_eq!(message, "no model of yours is called `qwen`");
        assert_eq!(hint, "others share models of this name: bob/qwen");
        let (message, _) = found("bob/twice").unwrap_err();
        assert_eq!(message, "2 models are called `bob/twice`");
        assert!(found("eve/llama").is_err());
    }

    #[test]
    fn a_message_names_the_publisher_of_a_shared_model() {
        assert_eq!(told(&shown(1, "llama", "ada", true)), "`llama`");
        assert_eq!(told(&shown(2, "llama", "bob", false)), "`bob/llama` (shared by bob)");
    }

    fn shown(number: u32, name: &str, publisher: &str, owned: bool) -> Model {
        serde_json::from_value(serde_json::json!({
            "model_id": format!("mdl_{number:032x}"), "name": name, "file_name": "m.gguf",
            "url": null, "sha256": null, "size_bytes": null, "plugin": "language_model",
            "shared": !owned, "ready": true, "owned": owned, "publisher": publisher,
            "created_at": "2026-08-07T12:00:00Z",
        }))
        .unwrap()
    }

    #[test]
    fn a_name_must_fit_exactly_one() {
        let items = || vec![("a", "1"), ("b", "2"), ("b", "3")];
        let describe = |item: &(&str, &str)| Described {
            name: item.0.to_owned(),
            id: item.1.to_owned(),
            is_incomplete: item.1 == "3",
        };
        let picked = |named| {
            pick(Kind::Model, named, items(), describe)
                .map_err(|error| (error.message, error.hint.unwrap_or_default()))
        };
        assert_eq!(picked("a"), Ok(("a", "1")));
        let twice =
            ("2 models are called `b`".to_owned(), "use the id: 2, 3 (incomplete)".to_owned());
        assert_eq!(picked("b"), Err(twice));
        let (message, hint) = picked("c").unwrap_err();
        assert_eq!(message, "no model is called `c`");
        assert_eq!(hint, "there is: a, b, b; see `link model list`");
    }

    #[test]
    fn a_key_is_found_by_its_name_and_one_that_is_revoked_only_if_it_alone_has_the_name() {
        let key = |number: u32, name: &str, revoked: bool| -> KeyInfo {
            serde_json::from_value(serde_json::json!({
                "key_id": format!("key_{number:032x}"), "kind": "fleet", "name": name, "revoked": revoked,
                "created_at": "2026-08-07T12:00:00Z", "expires_at": null, "max_devices": null, "devices": 0,
                "tags": [],
            }))
            .unwrap()
        };
        let keys =
            vec![key(1, "lab", true), key(2, "lab", false), key(3, "old", true), key(4, "", false)];
        let found = |named: &str| {
            key_among(keys.clone(), named)
                .map(|key| key.key_id.uuid().as_u128())
                .map_err(|error| error.hint.unwrap_or_default())
        };
        assert_eq!([found("lab"), found("old")], [Ok(2), Ok(3)]);
        let named = format!("there is: lab, lab, old, {}; see `link key list`", keys[3].key_id);
        assert_eq!(found("hall"), Err(named), "a key without a name is told by its id");
    }

    #[test]
    fn an_id_may_be_cut_where_it_is_still_unique() {
        let ids = || ["key_01aa", "key_01ab", "key_02aa"].map(str::to_owned).into_iter();
        let found = |text: &str| {
            let fitting: Vec<String> = ids().filter(|id| begins(id, text)).collect();
            fitting.len()
        };
        assert_eq!([found("key_02"), found("key_01"), found("key_"), found("key")], [1, 2, 0, 0]);
        let items = || vec![("a", "dev_01aa"), ("b", "dev_02aa")];
        let picked = pick(Kind::Device, "dev_02", items(), |item| Described {
            name: item.0.to_owned(),
            id: item.1.to_owned(),
            is_incomplete: false,
        });
        assert_eq!(picked, Ok(("b", "dev_02aa")));
    }
}
