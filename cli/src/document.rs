//! The JSON Schema (draft 2020-12) of what a command prints with `--json`.
//!
//! The types of `protocol` describe themselves for OpenAPI, whose schemas are JSON Schemas too: a
//! [`Component`] is such a type. A schema names the members of today and permits others, because a
//! minor release may add members.

use std::{borrow::Cow, marker::PhantomData};

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::{
    ToSchema,
    openapi::{self, RefOr},
};

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The forms of the document that one command prints.
#[derive(Clone, Debug)]
pub struct Document {
    name: &'static str,
    forms: Vec<fn(&mut SchemaGenerator) -> Schema>,
}

impl Document {
    /// Creates the document of a command that prints a `T`.
    pub(crate) fn of<T: JsonSchema + ?Sized>(name: &'static str) -> Self {
        Self { name, forms: vec![SchemaGenerator::subschema_for::<T>] }
    }

    /// Adds a form: with some arguments, the command prints a `T`.
    pub(crate) fn or<T: JsonSchema + ?Sized>(mut self) -> Self {
        self.forms.push(SchemaGenerator::subschema_for::<T>);
        self
    }

    /// Returns the words of the command, without `link`. Documents on stderr have a name instead.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the name of the file with the schema.
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("{}.schema.json", self.name.replace(' ', "-"))
    }

    /// Returns the schema, with everything that it refers to.
    #[must_use]
    pub fn schema(&self) -> Value {
        let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
        let forms: Vec<_> = self.forms.iter().map(|form| form(&mut generator).to_value()).collect();
        let mut schema = match <[Value; 1]>::try_from(forms) {
            Ok([form]) => form,
            Err(forms) => json!({ "anyOf": forms }),
        };
        schema["$schema"] = DIALECT.into();
        schema["title"] = format!("link {}", self.name).into();
        let definitions = generator.take_definitions(true);
        if !definitions.is_empty() {
            schema["$defs"] = definitions.into();
        }
        // The order must not depend on the features of other crates in the build.
        schema.sort_all_objects();
        schema
    }
}

/// Describes a type of `protocol` by its schema in the OpenAPI documents.
#[derive(Debug)]
pub(crate) struct Component<T>(PhantomData<T>);

impl<T: ToSchema> JsonSchema for Component<T> {
    fn schema_name() -> Cow<'static, str> {
        T::name()
    }

    fn schema_id() -> Cow<'static, str> {
        std::any::type_name::<Self>().into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut referenced = Vec::new();
        T::schemas(&mut referenced);
        for (name, schema) in referenced {
            generator.definitions_mut().entry(name).or_insert_with(|| rewrite(&schema).to_value());
        }
        rewrite(&T::schema())
    }
}

/// Rewrites the references between components to references between definitions.
fn rewrite(schema: &RefOr<openapi::Schema>) -> Schema {
    let text = serde_json::to_string(schema).expect("a schema has only text keys");
    let text = text.replace("\"#/components/schemas/", "\"#/$defs/");
    serde_json::from_str(&text).expect("a schema is an object")
}

/// The result of a removal.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct Removed<T> {
    /// The id or the name of the removed object.
    pub(crate) removed: T,
}

/// The result of a revocation.
#[derive(Debug, JsonSchema, Serialize)]
pub(crate) struct Revoked<T> {
    /// The id of the revoked key or token.
    pub(crate) revoked: T,
}

#[cfg(test)]
mod tests {
    use link_protocol::{
        backend_api::{device::Device, operation::OperationPlan},
        id::DeviceId,
    };

    use super::*;

    #[test]
    fn a_type_of_the_protocol_brings_what_it_refers_to() {
        let schema = Document::of::<Vec<Component<Device>>>("device list").schema();
        assert_eq!(schema["title"], "link device list");
        assert_eq!(schema["type"], "array");
        assert_eq!(schema["items"]["$ref"], "#/$defs/Device");
        let definitions = schema["$defs"].as_object().unwrap();
        assert_eq!(definitions["Device"]["properties"]["device_id"]["$ref"], "#/$defs/DeviceId");
        assert!(definitions.contains_key("DeviceId") && definitions.contains_key("Platform"));
    }

    #[test]
    fn several_forms_are_alternatives_and_share_their_definitions() {
        let document = Document::of::<Removed<Component<DeviceId>>>("x y")
            .or::<Component<Device>>()
            .or::<Component<OperationPlan>>();
        assert_eq!(document.file_name(), "x-y.schema.json");
        let schema = document.schema();
        assert_eq!(schema["anyOf"].as_array().unwrap().len(), 3);
        let definitions = schema["$defs"].as_object().unwrap();
        assert!(!definitions.contains_key("DeviceId2"), "{definitions:?}");
        for reference in references(&schema) {
            let name = reference.strip_prefix("#/$defs/").unwrap();
            assert!(definitions.contains_key(name), "{name}");
        }
    }

    fn references(schema: &Value) -> Vec<String> {
        match schema {
            Value::Object(members) => {
                let own = members.get("$ref").and_then(Value::as_str).map(str::to_owned);
                own.into_iter().chain(members.values().flat_map(references)).collect()
            }
            Value::Array(items) => items.iter().flat_map(references).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
        }
    }
}
