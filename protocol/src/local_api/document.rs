//! The OpenAPI document of the public part of the local API. It is generated from the types, so it also marks
//! deprecated fields.

use utoipa::{
    OpenApi, ToSchema as _,
    openapi::{
        ContentBuilder, HttpMethod, Ref, RefOr, ResponseBuilder, Schema, path::OperationBuilder,
        schema::ArrayBuilder,
    },
};

use super::{HEALTHZ_PATH, Healthz, MODELS_PATH, PipelineEntry};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Link, the local API of the agent",
        description = "The part of an agent's API on 127.0.0.1 that every user of the machine may read, on port 20505 since version 1.0.19 (8101 before)."
    ),
    components(schemas(Healthz, PipelineEntry))
)]
struct Document;

/// Returns the document.
///
/// # Panics
/// Never: a document has only text keys.
#[must_use]
pub fn document() -> String {
    let mut document = Document::openapi();
    document.info.version = env!("CARGO_PKG_VERSION").to_owned();
    let of = |name: &str| RefOr::<Schema>::Ref(Ref::from_schema_name(name));
    let entries = ArrayBuilder::new().items(Ref::from_schema_name(PipelineEntry::name()));
    for (path, summary, schema) in [
        (HEALTHZ_PATH, "The state of the agent.", of(&Healthz::name())),
        (
            MODELS_PATH,
            "Every pipeline of a model, serving or not.",
            RefOr::T(Schema::Array(entries.build())),
        ),
    ] {
        let content = ContentBuilder::new().schema(Some(schema)).build();
        let answer =
            ResponseBuilder::new().description(summary).content("application/json", content);
        let operation =
            OperationBuilder::new().summary(Some(summary)).response("200", answer.build());
        document.paths.add_path_operation(path, vec![HttpMethod::Get], operation);
    }
    let mut value = serde_json::to_value(&document).expect("a document has only text keys");
    value.sort_all_objects();
    let mut text = serde_json::to_string_pretty(&value).expect("a document has only text keys");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    // Holds: S9-7
    #[test]
    fn the_document_calls_two_fields_deprecated_since_1_0_17_and_no_other() {
        let document: Value = serde_json::from_str(&super::document()).unwrap();
        let fields =
            document["components"]["schemas"]["Healthz"]["properties"].as_object().unwrap();
        let deprecated = fields.iter().filter(|(_, field)| field["deprecated"] == true);
        let deprecated: Vec<_> = deprecated.map(|(name, _)| name.as_str()).collect();
        assert_eq!(deprecated, ["currently_serving", "model_id"]);
        for name in deprecated {
            let said = fields[name]["description"].as_str().unwrap_or_default();
            assert!(said.contains("Deprecated since 1.0.17"), "{name}: {said}");
        }
    }
}
