//! Models that are not for conversations: embeddings and ranks, through the proxy, counted in tokens.

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use link_protocol::{
    backend_api::{Page, deployment::Deployment, usage::Usage},
    port::Port,
    task::Task,
};
use link_tests::{
    backend::{EMAIL, OLD_ORIGIN, PASSWORD, TestBackend},
    device::{TestDevice, free_port},
    engines,
    wait::until,
};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn a_model_for_embeddings_is_served_as_one_and_counted() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let served = serve(&backend, &device, "tiny-embeddings.gguf", "vectors").await;
    assert_eq!(served.task, Some(Task::Embeddings));
    assert_eq!(listed(served.port).await["data"][0]["task"], "embeddings");

    let texts = ["the river", "the river", "a boat on the river", "the town"];
    let answer = ask(served.port, "embeddings", &json!({ "input": texts })).await;
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(answer.headers()["access-control-allow-origin"], OLD_ORIGIN);
    let answer: Value = answer.json().await.unwrap();
    let vectors: Vec<Vec<f64>> = answer["data"].as_array().unwrap().iter().map(vector).collect();
    assert!(vectors.iter().all(|vector| vector.len() == 64), "{answer}");
    for vector in &vectors {
        assert!((dot(vector, vector) - 1.0).abs() < 1e-3, "{answer}");
    }
    // The same text has the same vector, and a shared word brings texts together.
    assert!((dot(&vectors[0], &vectors[1]) - 1.0).abs() < 1e-5);
    assert!(dot(&vectors[0], &vectors[2]) > dot(&vectors[3], &vectors[2]));
    // Each text has its words, a first and a last token.
    assert_eq!(answer["usage"]["prompt_tokens"], 4 + 4 + 7 + 4);
    counted(&backend, &device, (1, 19, 0)).await;

    // An answer that is longer than the scanner keeps is counted, too.
    let many = vec!["the river"; 200];
    let long = ask(served.port, "embeddings", &json!({ "input": many })).await;
    assert!(long.bytes().await.unwrap().len() > 128 * 1024);
    counted(&backend, &device, (2, 19 + 800, 0)).await;

    // A text that is longer than the model's context is refused, and the engine lives on.
    let endless = "the river ".repeat(3000);
    let refused = ask(served.port, "embeddings", &json!({ "input": endless })).await;
    assert!(refused.status().is_client_error() || refused.status().is_server_error());
    let refused: Value = refused.json().await.unwrap();
    assert!(refused["error"]["message"].is_string(), "{refused}");
    let again = ask(served.port, "embeddings", &json!({ "input": "the river" })).await;
    assert_eq!(again.status(), StatusCode::OK);

    let chat = json!({ "messages": [{ "role": "user", "content": "Hello" }] });
    for path in ["chat/completions", "completions"] {
        let refused = ask(served.port, path, &chat).await;
        assert_eq!(refused.status(), StatusCode::NOT_FOUND);
        let refused: Value = refused.json().await.unwrap();
        let said = refused["error"]["message"].as_str().unwrap();
        assert!(
            said.contains("`vectors` is a model for embeddings; it serves /v1/embeddings"),
            "{said}"
        );
        assert_eq!(refused["error"]["code"], "path-not-served");
        assert_eq!(refused["error"]["type"], "not_found_error");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_does_not_chat_is_served_with_the_request_that_it_takes() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let served = serve(&backend, &device, "tiny-embeddings.gguf", "vectors").await;
    let paths = &listed(served.port).await["data"][0]["paths"];
    assert_eq!(paths, &json!(["/v1/embeddings"]));
    let link = |words: &[&str]| {
        let mut link = device.link();
        let output = link.args(words).stdin(Stdio::null()).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let request = format!("curl http://127.0.0.1:{}/v1/embeddings -H", served.port);
    for words in
        [&["chat", "vectors"][..], &["chat", "vectors", "Hello"], &["run", "vectors", "Hi"]]
    {
        let (code, out, said) = link(words);
        assert_eq!((code, &*out), (Some(1), ""), "{words:?}: {said}");
        assert!(said.contains("`vectors` does not chat: it makes embeddings"), "{said}");
        assert!(said.contains(&request), "{said}");
    }
    let (_, _, said) = link(&["chat", "vectors", "Hello", "--json"]);
    assert!(said.contains(r#""error":"does-not-chat""#), "{said}");

    // `link run` serves the model first.
    let stop = backend.owner.stop(served.model_id, device.id).await.unwrap();
    backend.result(stop.command_id).await;
    let mut login = device.link();
    login.args(["login", "--email", EMAIL, "--password-stdin", "--backend", &backend.url]);
    let mut login = login.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    login.stdin.take().unwrap().write_all(PASSWORD.as_bytes()).unwrap();
    assert!(login.wait().unwrap().success());
    let (code, line, said) = link(&["run", "vectors"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains(&format!("`vectors` is served on port {}", served.port)), "{said}");
    assert!(line.starts_with(&request), "{line}");
    let answer = Command::new("sh").args(["-c", &line]).output().unwrap();
    let answer: Value = serde_json::from_slice(&answer.stdout).unwrap();
    assert_eq!(answer["data"][0]["embedding"].as_array().unwrap().len(), 64, "{answer}");
    let (code, document, said) = link(&["run", "vectors", "--json"]);
    assert_eq!(code, Some(0), "{said}");
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["paths"], json!(["/v1/embeddings"]));
    assert_eq!(document["command"], line.trim());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_ranks_documents_is_served_as_one_and_counted() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let served = serve(&backend, &device, "tiny-ranking.gguf", "ranks").await;
    assert_eq!(served.task, Some(Task::Rerank));
    let documents = ["a town", "a boat on the river", "the river the river"];
    let asked = json!({ "query": "the river", "documents": documents });
    let answer = ask(served.port, "rerank", &asked).await;
    assert_eq!(answer.status(), StatusCode::OK);
    let answer: Value = answer.json().await.unwrap();
    let mut ranked: Vec<(f64, u64)> = answer["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["relevance_score"].as_f64().unwrap(), one["index"].as_u64().unwrap()))
        .collect();
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
    let order: Vec<u64> = ranked.iter().map(|(_, index)| *index).collect();
    assert_eq!(order, [2, 1, 0], "{answer}");
    let tokens = answer["usage"]["prompt_tokens"].as_u64().unwrap();
    counted(&backend, &device, (1, tokens, 0)).await;
    let refused = ask(served.port, "embeddings", &json!({ "input": "x" })).await;
    assert_eq!(refused.status(), StatusCode::NOT_FOUND);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_for_conversations_refuses_embeddings() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let served = serve(&backend, &device, "tiny.gguf", "tiny").await;
    assert_eq!(served.task, Some(Task::Chat));
    assert_eq!(listed(served.port).await["data"][0]["task"], "chat");
    let refused = ask(served.port, "embeddings", &json!({ "input": "x" })).await;
    assert_eq!(refused.status(), StatusCode::NOT_FOUND);
    let refused: Value = refused.json().await.unwrap();
    let said = refused["error"]["message"].as_str().unwrap();
    assert!(said.contains("`tiny` is a model for conversations"), "{said}");
    let refused: Value = ask(served.port, "files", &json!({})).await.json().await.unwrap();
    let said = refused["error"]["message"].as_str().unwrap();
    let usable = "served here: /v1/chat/completions, /v1/completions, /v1/responses, /v1/models;";
    assert!(said.starts_with(usable), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn responses_are_served_and_counted_where_the_build_has_them() {
    let backend = TestBackend::start().await;
    let device = TestDevice::start(&backend).await;
    let served = serve(&backend, &device, "tiny.gguf", "tiny").await;
    let asked = json!({ "input": "Hello", "max_output_tokens": 5 });
    let answer = ask(served.port, "responses", &asked).await;
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!(answer.headers()["access-control-allow-origin"], OLD_ORIGIN);
    let answer: Value = answer.json().await.unwrap();
    assert_eq!(answer["output"][0]["content"][0]["type"], "output_text", "{answer}");
    let tokens = |name: &str| answer["usage"][name].as_u64().unwrap();
    let (input, output) = (tokens("input_tokens"), tokens("output_tokens"));
    assert!(input > 0 && output == 5, "{answer}");
    counted(&backend, &device, (1, input, output)).await;

    let asked = json!({ "input": "Hello", "max_output_tokens": 5, "stream": true });
    let stream = ask(served.port, "responses", &asked).await.text().await.unwrap();
    assert!(stream.contains("event: response.output_text.delta"), "{stream}");
    let completed = stream.lines().find(|line| line.contains(r#""type":"response.completed""#));
    let completed = completed.unwrap().strip_prefix("data: ").unwrap();
    let completed: Value = serde_json::from_str(completed).unwrap();
    assert_eq!(completed["response"]["usage"]["output_tokens"], output);
    counted(&backend, &device, (2, 2 * input, 2 * output)).await;

    // A build that is older than the path says so, and serves the others.
    let builds = device.home().join("data/engines/llama-server");
    let used = std::fs::read_to_string(builds.join("current")).unwrap();
    std::fs::rename(builds.join(used.trim()), builds.join("b4000")).unwrap();
    std::fs::write(builds.join("current"), "b4000\n").unwrap();
    let stop = backend.owner.stop(served.model_id, device.id).await.unwrap();
    backend.result(stop.command_id).await;
    let serve = backend.owner.serve(served.model_id, device.id, None).await.unwrap();
    backend.result(serve.command_id).await;
    let refused = ask(served.port, "responses", &asked).await;
    assert_eq!(refused.status(), StatusCode::NOT_FOUND);
    let refused: Value = refused.json().await.unwrap();
    let said = refused["error"]["message"].as_str().unwrap();
    let expected = "`tiny` is served by build b4000 of llama-server, and `/v1/responses` needs build \
                    b8808 or later; install a later build with `link engine install`";
    assert!(said.starts_with(expected), "{said}");
    let paths = &listed(served.port).await["data"][0]["paths"];
    assert_eq!(paths, &json!(["/v1/chat/completions", "/v1/completions"]));
    let chat = json!({ "messages": [{ "role": "user", "content": "Hello" }] });
    assert_eq!(ask(served.port, "chat/completions", &chat).await.status(), StatusCode::OK);
}

async fn serve(backend: &TestBackend, device: &TestDevice, file: &str, name: &str) -> Deployment {
    let model = backend.upload_for("language_model", file, name, engines::model(file)).await;
    let deployment = backend.deploy(model.model_id, device.id, free_port(), true).await;
    backend.serving(deployment.deployment_id, true).await
}

async fn ask(port: Port, path: &str, body: &Value) -> Response {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let url = format!("http://127.0.0.1:{port}/v1/{path}");
    client.post(url).header("origin", OLD_ORIGIN).json(body).send().await.unwrap()
}

async fn listed(port: Port) -> Value {
    let url = format!("http://127.0.0.1:{port}/v1/models");
    reqwest::get(url).await.unwrap().json().await.unwrap()
}

fn vector(entry: &Value) -> Vec<f64> {
    entry["embedding"].as_array().unwrap().iter().map(|one| one.as_f64().unwrap()).collect()
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// Waits until the backend has counted so many inferences, prompt tokens and completion tokens.
async fn counted(backend: &TestBackend, device: &TestDevice, expected: (u64, u64, u64)) {
    let url = format!("{}/api/v1/usage?device_id={}", backend.url, device.id);
    until("the inferences to be counted", || async {
        let token = backend.owner.access_token();
        let asked = reqwest::Client::new().get(&url).bearer_auth(token.expose());
        let page: Page<Usage> = asked.send().await.ok()?.json().await.ok()?;
        let sum = page.items.iter().fold((0, 0, 0), |sum, one| {
            let Usage { inferences, prompt_tokens, completion_tokens, .. } = one;
            (sum.0 + inferences, sum.1 + prompt_tokens, sum.2 + completion_tokens)
        });
        (sum == expected).then_some(())
    })
    .await;
}
