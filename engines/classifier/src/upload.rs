//! What a client sends: a file, as the whole body or as a part of a form, and how many labels it wants.

use std::convert::Infallible;

use bytes::Bytes;
use futures_util::stream;
use multer::{Field, Multipart};

use crate::{
    limits::{FORM_FIELD_BYTES, FORM_PARTS},
    refusal::Refusal,
    scores::parse_top_k,
};

/// A file to classify.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Upload {
    /// The file; its format is what its first bytes say.
    pub file: Bytes,
    /// The number of labels that the client wants, from 1.
    pub top_k: Option<usize>,
}

/// Reads `top_k` from the query of a request. The first value counts; other parameters are ignored.
///
/// # Errors
/// If the value is 0 or not a number.
pub fn top_k_of_query(query: Option<&str>) -> Result<Option<usize>, Refusal> {
    query
        .unwrap_or_default()
        .split('&')
        .find_map(|pair| match pair.split_once('=') {
            Some(("top_k", value)) => Some(parse_top_k(value)),
            None if pair == "top_k" => Some(parse_top_k("")),
            Some(_) | None => None,
        })
        .transpose()
}

/// Reads a whole body. A form has a part `file` or `image`, may have `top_k`, which outweighs the query's, and other
/// parts, which are ignored: `model` among them, because each engine serves one model.
///
/// # Errors
/// If there is no file, or the form is damaged.
pub async fn read(
    content_type: Option<&str>,
    query: Option<&str>,
    body: Bytes,
) -> Result<Upload, Refusal> {
    let top_k = top_k_of_query(query)?;
    let is_form = content_type.is_some_and(|kind| {
        kind.trim_start()
            .get(..19)
            .is_some_and(|start| start.eq_ignore_ascii_case("multipart/form-data"))
    });
    let upload = match content_type {
        Some(content_type) if is_form => form(content_type, top_k, body).await?,
        Some(_) | None => Upload { file: body, top_k },
    };
    if upload.file.is_empty() {
        return Err(Refusal::bad_request("empty_file", "The file is empty. Send a file."));
    }
    Ok(upload)
}

async fn form(content_type: &str, top_k: Option<usize>, body: Bytes) -> Result<Upload, Refusal> {
    let boundary = multer::parse_boundary(content_type).map_err(|_| broken("has no boundary"))?;
    let mut form = Multipart::new(stream::once(async { Ok::<_, Infallible>(body) }), boundary);
    let (mut file, mut top_k) = (None, top_k);
    for _ in 0..FORM_PARTS {
        let part = form.next_field().await.map_err(|_| broken("is damaged or truncated"))?;
        let Some(part) = part else {
            let message = "The form has no file. Send the file as the part `file`.";
            let missing = || Refusal::bad_request("missing_file", message);
            return Ok(Upload { file: file.ok_or_else(missing)?, top_k });
        };
        let name = part.name().unwrap_or_default().to_owned();
        match name.as_str() {
            "file" | "image" if file.is_some() => return Err(broken("has more than one file")),
            "file" | "image" => {
                let content = part.bytes().await;
                file = Some(content.map_err(|_| broken("is damaged or truncated"))?);
            }
            "top_k" => top_k = Some(parse_top_k(&short_text(part).await?)?),
            _ => drop(short_text(part).await?),
        }
    }
    Err(broken("has too many parts"))
}

/// Reads a part that is not the file.
async fn short_text(mut part: Field<'_>) -> Result<String, Refusal> {
    let mut text = Vec::new();
    while let Some(piece) = part.chunk().await.map_err(|_| broken("is damaged or truncated"))? {
        text.extend_from_slice(&piece);
        if text.len() > FORM_FIELD_BYTES {
            return Err(broken("has a field that is too long"));
        }
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn broken(fault: &str) -> Refusal {
    let message = format!("The form {fault}. Send one file as the part `file`.");
    Refusal::bad_request("invalid_form", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_query_may_name_the_number_of_labels() {
        for (query, wanted) in [
            (None, None),
            (Some("top_k=3"), Some(3)),
            (Some("a=b&top_k=3&top_k=4"), Some(3)),
            (Some("top_kk=3"), None),
        ] {
            assert_eq!(top_k_of_query(query), Ok(wanted), "{query:?}");
        }
        for query in ["top_k=0", "top_k", "top_k=", "top_k=-1", "top_k=three"] {
            assert_eq!(top_k_of_query(Some(query)).unwrap_err().code, "invalid_top_k", "{query}");
        }
    }

    #[tokio::test]
    async fn a_body_is_the_file() {
        let upload = read(Some("image/png"), Some("top_k=2"), Bytes::from_static(b"\x89PNG"));
        let wanted = Upload { file: Bytes::from_static(b"\x89PNG"), top_k: Some(2) };
        assert_eq!(upload.await, Ok(wanted));
        let empty = read(None, None, Bytes::new()).await;
        assert_eq!(empty.unwrap_err().code, "empty_file");
    }

    #[tokio::test]
    async fn a_form_has_a_file_and_fields() {
        for name in ["file", "image"] {
            let body = part("model", "any") + &part("top_k", "7") + &part(name, "\u{1}bytes");
            let upload = of(&(body + "--b--\r\n")).await.unwrap();
            assert_eq!((&*upload.file, upload.top_k), (&b"\x01bytes"[..], Some(7)));
        }
    }

    #[tokio::test]
    async fn a_wrong_form_is_refused() {
        let whole = |parts: String| parts + "--b--\r\n";
        for (body, code) in [
            (whole(part("model", "any")), "missing_file"),
            (whole(part("file", "a") + &part("image", "b")), "invalid_form"),
            (whole(part("file", "a") + &part("top_k", "0")), "invalid_top_k"),
            (whole(part("file", "")), "empty_file"),
            (whole(part("file", "a") + &part("model", &"m".repeat(2000))), "invalid_form"),
            (whole(part("x", "y").repeat(17)), "invalid_form"),
            (part("file", "a"), "invalid_form"),
            ("nonsense".to_owned(), "invalid_form"),
            (String::new(), "invalid_form"),
        ] {
            assert_eq!(of(&body).await.unwrap_err().code, code, "{body}");
        }
        let unbounded = read(Some("multipart/form-data"), None, Bytes::from_static(b"x")).await;
        assert_eq!(unbounded.unwrap_err().code, "invalid_form");
    }

    async fn of(body: &str) -> Result<Upload, Refusal> {
        let kind = "Multipart/Form-Data; boundary=b";
        read(Some(kind), Some("top_k=1"), Bytes::copy_from_slice(body.as_bytes())).await
    }

    fn part(name: &str, content: &str) -> String {
        format!(
            "--b\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"f\"\r\n\r\n{content}\r\n"
        )
    }
}
