//! Requests to the store: each is signed, has a deadline, and is retried when a retry can help.
//!
//! A request's URL contains its signature, so no URL appears in an error or a log.

#![expect(clippy::disallowed_methods, reason = "IO shell: waits before it asks again")]

use std::{ops::Range, time::Duration};

use bytes::Bytes;
use http::{StatusCode, header};
use link_protocol::{limits, secret::Secret};
use reqwest::{Method, Response, Url, redirect};
use rusty_s3::{
    Bucket, Credentials, S3Action as _,
    actions::{CompleteMultipartUploadResponse, CreateMultipartUpload, ListParts},
};

use crate::content::fault::BucketFault;

/// How long a signature is valid.
pub(super) const SIGNATURE_LIFETIME: Duration = Duration::from_secs(15 * 60);

/// The deadline of a request without content.
const REQUEST_DEADLINE: Duration = Duration::from_secs(30);
/// The deadline for assembling or copying parts.
const ASSEMBLY_DEADLINE: Duration = Duration::from_secs(300);
/// The minimum rate at which the store must accept content, in bytes per second.
const SLOWEST: u64 = 128 * 1024;
/// The size limit of an answer without content, in bytes.
const ANSWER_LIMIT: usize = 4 * 1024 * 1024;
/// The maximum number of characters of the store's own message in an error.
const MESSAGE_LIMIT: usize = 200;

/// A client of one bucket.
#[derive(Debug)]
pub(super) struct Requests {
    http: reqwest::Client,
    pub(super) bucket: Bucket,
    pub(super) credentials: Credentials,
}

/// A request without its URL.
struct Ask {
    method: Method,
    headers: Vec<(&'static str, String)>,
    body: Bytes,
    within: Duration,
}

impl Ask {
    fn new(method: Method) -> Self {
        Self { method, headers: Vec::new(), body: Bytes::new(), within: REQUEST_DEADLINE }
    }

    fn body(self, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        let within = self.within + Duration::from_secs(body.len() as u64 / SLOWEST);
        Self { body, within, ..self }
    }
}

impl Requests {
    pub(super) fn new(
        bucket: Bucket,
        access_key: &str,
        secret_key: &Secret,
    ) -> reqwest::Result<Self> {
        // Another test in this process may have installed the provider already.
        let _installed = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .connect_timeout(limits::CONNECT_TIMEOUT)
            // A signature is valid for one URL only.
            .redirect(redirect::Policy::none())
            .user_agent(concat!("link-backend/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(Self { http, bucket, credentials: Credentials::new(access_key, secret_key.expose()) })
    }

    /// Sends a request and returns the answer as text.
    pub(super) async fn ask(
        &self,
        method: Method,
        sign: impl Fn() -> Url,
    ) -> Result<String, BucketFault> {
        let response = self.send(&Ask::new(method), sign).await?;
        self.text(response).await
    }

    /// Writes an object in one step.
    pub(super) async fn put(&self, key: &str, content: Bytes) -> Result<(), BucketFault> {
        let ask = Ask::new(Method::PUT).body(content);
        let sign = || self.bucket.put_object(Some(&self.credentials), key).sign(SIGNATURE_LIFETIME);
        self.send(&ask, sign).await.map(drop)
    }

    /// Opens a non-empty range of an object.
    pub(super) async fn get(&self, key: &str, range: &Range<u64>) -> Result<Response, BucketFault> {
        let mut ask = Ask::new(Method::GET);
        ask.headers.push(("range", format!("bytes={}-{}", range.start, range.end - 1)));
        let sign = || self.bucket.get_object(Some(&self.credentials), key).sign(SIGNATURE_LIFETIME);
        let response = self.send(&ask, sign).await?;
        let is_part = response.status() == StatusCode::PARTIAL_CONTENT || range.start == 0;
        let is_whole = response.content_length() == Some(range.end.saturating_sub(range.start));
        if is_part && is_whole {
            Ok(response)
        } else {
            Err(BucketFault::Garbled("another part of an object than was asked for"))
        }
    }

    /// Returns the size of an object, if it exists.
    pub(super) async fn size(&self, key: &str) -> Result<Option<u64>, BucketFault> {
        let sign =
            || self.bucket.head_object(Some(&self.credentials), key).sign(SIGNATURE_LIFETIME);
        match self.send(&Ask::new(Method::HEAD), sign).await {
            Ok(response) => {
                let length = response.headers().get(header::CONTENT_LENGTH);
                Ok(length.and_then(|length| length.to_str().ok()?.parse().ok()))
            }
            Err(fault) if fault.is_not_found() => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Deletes an object, if it exists.
    pub(super) async fn delete(&self, key: &str) -> Result<(), BucketFault> {
        let sign =
            || self.bucket.delete_object(Some(&self.credentials), key).sign(SIGNATURE_LIFETIME);
        match self.send(&Ask::new(Method::DELETE), sign).await {
            Err(fault) if !fault.is_missing_object() => Err(fault),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Starts a multipart upload and returns its id.
    pub(super) async fn begin(&self, key: &str) -> Result<String, BucketFault> {
        let sign = || {
            let action = self.bucket.create_multipart_upload(Some(&self.credentials), key);
            action.sign(SIGNATURE_LIFETIME)
        };
        let text = self.ask(Method::POST, sign).await?;
        CreateMultipartUpload::parse_response(text.trim_start())
            .map(|begun| begun.upload_id().to_owned())
            .map_err(|_error| refusal_in(&text).unwrap_or(BucketFault::Garbled("a begun upload")))
    }

    /// Sends a part and returns its tag.
    pub(super) async fn send_part(
        &self,
        key: &str,
        upload_id: &str,
        number: u16,
        part: Bytes,
    ) -> Result<String, BucketFault> {
        let ask = Ask::new(Method::PUT).body(part);
        let sign = || {
            let credentials = Some(&self.credentials);
            let action = self.bucket.upload_part(credentials, key, number, upload_id);
            action.sign(SIGNATURE_LIFETIME)
        };
        let response = self.send(&ask, sign).await?;
        let tag = response.headers().get(header::ETAG).and_then(|tag| tag.to_str().ok());
        tag.map(str::to_owned).ok_or(BucketFault::Garbled("a part without a tag"))
    }

    /// Tells whether an unfinished upload holds the part with this number and tag.
    pub(super) async fn has_part(
        &self,
        (key, upload_id): (&str, &str),
        (number, tag): (u16, &str),
    ) -> Result<bool, BucketFault> {
        let sign = || {
            let mut action = ListParts::new(&self.bucket, Some(&self.credentials), key, upload_id);
            action.set_max_parts(1);
            action.set_part_number_marker(number.saturating_sub(1));
            action.sign(SIGNATURE_LIFETIME)
        };
        let text = match self.ask(Method::GET, sign).await {
            Ok(text) => text,
            Err(fault) if fault.is_not_found() => return Ok(false),
            Err(fault) => return Err(fault),
        };
        holds_part(&text, number, tag).ok_or_else(|| {
            refusal_in(&text).unwrap_or(BucketFault::Garbled("the parts of an upload"))
        })
    }

    /// Copies a range of another object of the bucket as a part and returns its tag.
    pub(super) async fn copy_part(
        &self,
        (key, upload_id, number): (&str, &str, u16),
        (from, range): (&str, &Range<u64>),
    ) -> Result<String, BucketFault> {
        let source = format!("/{}/{from}", self.bucket.name());
        let bytes = format!("bytes={}-{}", range.start, range.end - 1);
        let mut ask = Ask { within: ASSEMBLY_DEADLINE, ..Ask::new(Method::PUT) };
        ask.headers.push(("x-amz-copy-source", source.clone()));
        ask.headers.push(("x-amz-copy-source-range", bytes.clone()));
        let sign = || {
            let credentials = Some(&self.credentials);
            let mut action = self.bucket.upload_part(credentials, key, number, upload_id);
            action.headers_mut().insert("x-amz-copy-source", source.as_str());
            action.headers_mut().insert("x-amz-copy-source-range", bytes.as_str());
            action.sign(SIGNATURE_LIFETIME)
        };
        let response = self.send(&ask, sign).await?;
        let text = self.text(response).await?;
        match element(&text, "ETag") {
            Some(tag) if element(&text, "Code").is_none() => Ok(tag),
            Some(_) | None => {
                Err(refusal_in(&text).unwrap_or(BucketFault::Garbled("a copied part")))
            }
        }
    }

    /// Completes a multipart upload: the parts with these tags become an object.
    pub(super) async fn complete(
        &self,
        key: &str,
        upload_id: &str,
        tags: &[String],
    ) -> Result<(), BucketFault> {
        let action = || {
            let tags = tags.iter().map(String::as_str);
            self.bucket.complete_multipart_upload(Some(&self.credentials), key, upload_id, tags)
        };
        let ask = Ask { within: ASSEMBLY_DEADLINE, ..Ask::new(Method::POST) };
        let ask = ask.body(action().body());
        let response = self.send(&ask, || action().sign(SIGNATURE_LIFETIME)).await?;
        let text = self.text(response).await?;
        // The store sends the head of the answer early, so the body may still report an error.
        CompleteMultipartUploadResponse::parse(text.trim_start()).map(drop).map_err(|_error| {
            refusal_in(&text).unwrap_or(BucketFault::Garbled("a completed upload"))
        })
    }

    /// Aborts a multipart upload, if it exists, and deletes its parts.
    pub(super) async fn abort(&self, key: &str, upload_id: &str) -> Result<(), BucketFault> {
        let sign = || {
            let credentials = Some(&self.credentials);
            let action = self.bucket.abort_multipart_upload(credentials, key, upload_id);
            action.sign(SIGNATURE_LIFETIME)
        };
        match self.send(&Ask::new(Method::DELETE), sign).await {
            Err(fault) if !fault.is_not_found() => Err(fault),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Reads an answer without content.
    pub(super) async fn text(&self, mut response: Response) -> Result<String, BucketFault> {
        let read = async {
            let mut text = Vec::new();
            while let Some(chunk) = response.chunk().await.map_err(BucketFault::unreachable)? {
                if text.len() + chunk.len() > ANSWER_LIMIT {
                    return Err(BucketFault::Garbled("an answer without end"));
                }
                text.extend_from_slice(&chunk);
            }
            String::from_utf8(text).map_err(|_error| BucketFault::Garbled("an answer in no text"))
        };
        let read = tokio::time::timeout(ASSEMBLY_DEADLINE, read).await;
        read.unwrap_or(Err(BucketFault::Unreachable(None)))
    }

    /// Sends a request, and retries it where that can help. Each attempt has a new signature.
    async fn send(&self, ask: &Ask, sign: impl Fn() -> Url) -> Result<Response, BucketFault> {
        let mut delays = limits::RETRY_DELAYS.iter();
        loop {
            let fault = match self.attempt(ask, sign()).await {
                Ok(response) => return Ok(response),
                Err(fault) => fault,
            };
            let Some(delay) = delays.next().filter(|_| fault.is_silence()) else {
                return Err(fault);
            };
            tracing::debug!(error = fault.said(), "retrying a request to the store of models");
            tokio::time::sleep(*delay).await;
        }
    }

    async fn attempt(&self, ask: &Ask, url: Url) -> Result<Response, BucketFault> {
        let mut request = self.http.request(ask.method.clone(), url);
        for (name, value) in &ask.headers {
            request = request.header(*name, value);
        }
        if matches!(ask.method, Method::PUT | Method::POST) {
            request = request.header(header::CONTENT_LENGTH, ask.body.len());
            request = request.body(ask.body.clone());
        }
        let sent = tokio::time::timeout(ask.within, request.send()).await;
        let response = sent.map_err(|_elapsed| BucketFault::Unreachable(None))?;
        let response = response.map_err(BucketFault::unreachable)?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let text = self.text(response).await.unwrap_or_default();
        Err(refusal(status.as_u16(), &text))
    }
}

/// Returns the refusal in the body of an answer with a successful status.
fn refusal_in(text: &str) -> Option<BucketFault> {
    element(text, "Code").map(|_| refusal(500, text))
}

/// Returns a refusal with code and message. The rest of the answer is left out, because it can contain the signed text.
fn refusal(status: u16, text: &str) -> BucketFault {
    let code = element(text, "Code").unwrap_or_default();
    let message = element(text, "Message").unwrap_or_default();
    let is_plain = |c: &char| !c.is_control();
    BucketFault::Refused {
        status,
        code: code.chars().filter(char::is_ascii_alphanumeric).take(MESSAGE_LIMIT).collect(),
        message: message.chars().filter(is_plain).take(MESSAGE_LIMIT).collect(),
    }
}

/// Tells whether a list of parts holds the part with this number and tag. Returns `None` if the text is no such list.
///
/// Some stores leave out tags and the members that describe pages, so only a tag that differs counts against a part.
fn holds_part(text: &str, number: u16, tag: &str) -> Option<bool> {
    let document = roxmltree::Document::parse(text.trim_start()).ok()?;
    let list = document.root_element();
    if list.tag_name().name() != "ListPartsResult" {
        return None;
    }
    let bare = |tag: &str| tag.trim_matches('"').to_owned();
    Some(list.children().filter(|node| node.tag_name().name() == "Part").any(|part| {
        let member = |name: &str| {
            part.children().find(|node| node.tag_name().name() == name).and_then(|node| node.text())
        };
        member("PartNumber").is_some_and(|text| text.parse() == Ok(number))
            && member("ETag").is_none_or(|stored| bare(stored) == bare(tag))
    }))
}

/// Returns the text of the first element with this name.
fn element(text: &str, name: &str) -> Option<String> {
    let document = roxmltree::Document::parse(text.trim_start()).ok()?;
    let found = document.descendants().find(|node| node.tag_name().name() == name)?;
    found.text().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_in_the_store_s_words_without_what_was_signed() {
        let text = "\n<?xml version=\"1.0\"?><Error><Code>SignatureDoesNotMatch</Code>\
                    <Message>It does\nnot match.</Message>\
                    <StringToSign>AWS4-HMAC-SHA256 secret</StringToSign></Error>";
        let said = refusal(403, text).said();
        assert_eq!(said, "the store answers 403 SignatureDoesNotMatch: It doesnot match.");
        let said = refusal(502, "<html>bad gateway").said();
        assert_eq!(said, "the store answers 502 : ");
    }

    #[test]
    fn what_may_pass_is_asked_again_and_nothing_else() {
        for (status, expected) in
            [(400, false), (403, false), (404, false), (301, false), (429, true), (500, true)]
        {
            assert_eq!(refusal(status, "").is_silence(), expected, "{status}");
        }
        assert!(BucketFault::Unreachable(None).is_silence());
    }

    #[test]
    fn a_part_is_found_by_its_number_and_by_its_tag_where_the_store_lists_tags() {
        let list = |parts: &str| {
            format!(
                "<ListPartsResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">{parts}</ListPartsResult>"
            )
        };
        let tagged = list(
            "<Part><PartNumber>2</PartNumber><ETag>&quot;abc&quot;</ETag><Size>5</Size></Part>",
        );
        let bare = list("<Part><PartNumber>2</PartNumber><Size>5</Size></Part>");
        for (text, number, tag, expected) in [
            (tagged.as_str(), 2, "\"abc\"", Some(true)),
            (&tagged, 2, "abc", Some(true)),
            (&tagged, 2, "\"other\"", Some(false)),
            (&tagged, 3, "\"abc\"", Some(false)),
            (&bare, 2, "\"abc\"", Some(true)),
            (&list(""), 2, "\"abc\"", Some(false)),
            ("<Error><Code>InternalError</Code></Error>", 2, "\"abc\"", None),
            ("<html>bad gateway", 2, "\"abc\"", None),
        ] {
            assert_eq!(holds_part(text, number, tag), expected, "{number} {tag} in {text}");
        }
    }

    #[test]
    fn an_error_in_the_body_of_a_success_is_a_refusal() {
        let text = "   <Error><Code>InternalError</Code><Message>later</Message></Error>";
        assert!(refusal_in(text).is_some_and(|fault| fault.is_silence()));
        let done = "<CopyPartResult><ETag>&quot;a&quot;</ETag></CopyPartResult>";
        assert!(refusal_in(done).is_none());
        assert_eq!(element(done, "ETag").as_deref(), Some("\"a\""));
    }
}
