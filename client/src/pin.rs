//! Determines the size and the SHA-256 of the file at a URL, to pin it. Hugging Face sends the
//! SHA-256 in a header; from any other server the whole file is read.

use std::time::Duration;

use link_protocol::{
    backend_api::model::ModelFacts,
    command::Sha256Hex,
    gguf::{Inspection, NotAModel},
    limits,
};
use reqwest::{Method, Response, StatusCode, redirect};
use sha2::{Digest as _, Sha256};

use crate::{download, http};

/// A server that sends nothing for this long counts as unreachable.
const STALL: Duration = Duration::from_secs(30);
/// Hugging Face, which sends the checksum of a file in a header.
const HUB: &str = "https://huggingface.co/";
const HUB_DIGEST: &str = "x-linked-etag";
const HUB_SIZE: &str = "x-linked-size";

/// The size and checksum of a file at an address.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Pin {
    pub sha256: Sha256Hex,
    pub size_bytes: u64,
    /// The model's description, if the file was read.
    pub seen: Option<Result<ModelFacts, NotAModel>>,
}

/// Determines the pin of the file at `url`. `progress` receives the number of read bytes and, if
/// known, the size.
///
/// # Errors
/// The reason why the file cannot be pinned, for a person.
pub async fn pin(url: &str, progress: impl Fn(u64, u64)) -> Result<Pin, String> {
    if url.starts_with(HUB)
        && let Some(pin) = told_by_the_hub(url).await
    {
        return Ok(pin);
    }
    let client = download::client(url, STALL).map_err(|error| error.to_string())?;
    let unreachable = |error: &reqwest::Error| {
        download::tls_or_proxy(error).unwrap_or("the server is unreachable").to_owned()
    };
    let mut response = client.get(url).send().await.map_err(|error| unreachable(&error))?;
    if response.status() != StatusCode::OK {
        return Err(format!("the server answered {}", response.status()));
    }
    let total = response.content_length().unwrap_or(0);
    let (mut hasher, mut inspection, mut size_bytes) =
        (Sha256::new(), Inspection::default(), 0_u64);
    while let Some(piece) = response.chunk().await.map_err(|error| unreachable(&error))? {
        hasher.update(&piece);
        inspection.push(&piece);
        size_bytes += piece.len() as u64;
        if size_bytes > limits::MODEL_SIZE_LIMIT {
            return Err("the file is larger than any model may be".to_owned());
        }
        progress(size_bytes, total);
    }
    let sha256 = Sha256Hex::from_digest(&hasher.finalize());
    Ok(Pin { sha256, size_bytes, seen: Some(inspection.finish(size_bytes)) })
}

/// Requests the pin from Hugging Face, which sends the headers before it redirects.
async fn told_by_the_hub(url: &str) -> Option<Pin> {
    let builder = http::builder_for(&url.parse().ok()?).read_timeout(STALL);
    let client = http::build(builder.redirect(redirect::Policy::none())).ok()?;
    let answer = client.request(Method::HEAD, url).timeout(STALL).send().await.ok()?;
    let fits = answer.status().is_success() || answer.status().is_redirection();
    fits.then(|| of_headers(&answer)).flatten()
}

fn of_headers(answer: &Response) -> Option<Pin> {
    let text = |name| answer.headers().get(name)?.to_str().ok();
    let sha256 = text(HUB_DIGEST)?.trim_matches('"').parse().ok()?;
    let size_bytes = text(HUB_SIZE)?.parse().ok().filter(|size| *size > 0)?;
    Some(Pin { sha256, size_bytes, seen: None })
}

#[cfg(test)]
mod tests {
    use axum::{Router, http::StatusCode, response::AppendHeaders, routing::any};

    use super::*;

    #[tokio::test]
    async fn a_file_is_pinned_by_what_it_holds_and_the_hub_is_believed_about_its_own() {
        crate::install_crypto();
        let digest = "0".repeat(64);
        let headers = [(HUB_DIGEST, format!("\"{digest}\"")), (HUB_SIZE, "77".to_owned())];
        let app = Router::new()
            .route("/file", any(|| async { "12345" }))
            .route("/hub", any(move || std::future::ready(AppendHeaders(headers.clone()))))
            .route("/missing", any(|| async { StatusCode::NOT_FOUND }));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await });
        let found = pin(&format!("{base}/file"), |_, _| {}).await.unwrap();
        assert_eq!(found.sha256, Sha256Hex::from_digest(&Sha256::digest("12345")));
        assert_eq!(
            (found.size_bytes, found.seen),
            (5, Some(Err(NotAModel::Short { size_bytes: 5 })))
        );
        let told = told_by_the_hub(&format!("{base}/hub")).await.unwrap();
        assert_eq!((told.sha256.as_str(), told.size_bytes), (digest.as_str(), 77));
        assert_eq!(told_by_the_hub(&format!("{base}/file")).await, None);
        let missing = pin(&format!("{base}/missing"), |_, _| {}).await.unwrap_err();
        assert_eq!(missing, "the server answered 404 Not Found");
    }
}
