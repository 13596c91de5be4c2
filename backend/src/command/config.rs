//! `config check`, `config show` and `config schema`.

use link_backend::{
    args::Config,
    config::{
        fault::{Place, SECRETS},
        file,
        load::Loaded,
    },
};
use link_protocol::exit_code::ExitCode;
use serde::Serialize;
use serde_json::Value;

use crate::command::outcome::{Ended, print};

/// A key with its value and the source of the value.
#[derive(Serialize)]
struct Shown<'a> {
    key: &'a str,
    value: Value,
    from: String,
}

/// Prints the JSON Schema of the file.
pub(crate) fn schema() -> Ended {
    print(&file::json_schema())?;
    Ok(ExitCode::Success)
}

/// Prints the configuration, or reports that it is valid. A configuration with faults does not
/// load.
pub(crate) fn run(action: Config, loaded: &Loaded, json: bool) -> Ended {
    match action {
        Config::Schema => return schema(),
        Config::Check => {
            loaded.data()?;
            let file = loaded.path.as_ref().map(|path| path.display().to_string());
            print(&match (json, file) {
                (true, file) => serde_json::json!({ "file": file, "faults": [] }).to_string(),
                (false, Some(file)) => format!("`{file}` has no faults"),
                (false, None) => "there is no file, and no fault".to_owned(),
            })?;
        }
        Config::Show => show(loaded, json)?,
    }
    Ok(ExitCode::Success)
}

fn show(loaded: &Loaded, json: bool) -> Result<(), crate::command::outcome::Refused> {
    let values = serde_json::to_value(&loaded.values).unwrap_or_default();
    let shown: Vec<Shown<'_>> = loaded
        .places
        .iter()
        .map(|(key, place)| {
            let pointer = format!("/{}", key.replace('.', "/"));
            let value = values.pointer(&pointer).cloned().unwrap_or(Value::Null);
            let is_secret = SECRETS.iter().any(|(secret, _)| secret == key);
            let value = if is_secret { Value::from("***") } else { value };
            Shown { key, value, from: from(place, loaded) }
        })
        .collect();
    if json {
        return print(&serde_json::to_string_pretty(&shown).unwrap_or_default());
    }
    let lines = shown.iter().map(|Shown { key, value, from }| match value {
        Value::Null => format!("# {key} is not set"),
        Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => format!("{key} = {value}  # {from}"),
    });
    print(&lines.collect::<Vec<_>>().join("\n"))
}

fn from(place: &Place, loaded: &Loaded) -> String {
    match (place, &loaded.path) {
        (Place::File, Some(path)) => path.display().to_string(),
        (place, _) => place.to_string(),
    }
}
