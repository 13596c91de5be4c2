//! A language model of 1.3 MB with a known answer, for tests with a real engine.
//!
//! Attention and feed-forward are zero. The embedding of token i is the i-th unit vector, and its weight in the output
//! selects its successor. So the next token depends only on the last one. Every token outside the script leads to the
//! first word of the script. The last word leads to the end, or in the endless model back to the first word. The
//! tokeniser, the cache, the sampling and the token counts are those of the engine.

#![expect(clippy::disallowed_methods, reason = "IO shell: writes the model's file")]

mod encoder;
mod gguf;

use std::path::Path;

use anyhow::Context as _;

use self::{
    encoder::Encoder,
    gguf::{Data, Gguf, Half, Value},
};

/// The answer: 21 words. Each is its own token, even if a word occurs twice. With the end token, an engine counts 22
/// tokens. `▁` is the tokeniser's space.
const SCRIPT: &[&str] = &[
    "▁Hello",
    "▁from",
    "▁a",
    "▁tiny",
    "▁local",
    "▁model",
    ":",
    "▁every",
    "▁token",
    "▁of",
    "▁this",
    "▁reply",
    "▁is",
    "▁scripted",
    ",",
    "▁so",
    "▁tests",
    "▁can",
    "▁count",
    "▁them",
    ".",
];
const CONTROL_TOKENS: &[&str] =
    &["<unk>", "<s>", "</s>", "<|system|>", "<|user|>", "<|assistant|>"];
const UNKNOWN: u32 = 0;
const BEGIN: u32 = 1;
const END: u32 = 2;

const TYPE_NORMAL: i32 = 1;
const TYPE_UNKNOWN: i32 = 2;
const TYPE_CONTROL: i32 = 3;
const TYPE_BYTE: i32 = 6;

const CONTEXT: u32 = 4096;
const EMBEDDING: usize = 320;
const HEADS: usize = 5;
const FEED_FORWARD: usize = 64;
const MOSTLY_F16: u32 = 1;

const CHAT_TEMPLATE: &str = "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}\n{% endfor %}\
    {% if add_generation_prompt %}<|assistant|>{% endif %}";

/// The model to write.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[group(multiple = false)]
pub(crate) struct Kind {
    /// Write the model whose answer never ends
    #[arg(long = "loop")]
    endless: bool,
    /// Write a model for embeddings
    #[arg(long)]
    embeddings: bool,
    /// Write a model that ranks documents
    #[arg(long)]
    ranking: bool,
}

/// Writes the model to `out`, and returns a description of it.
pub(crate) fn run(out: &Path, kind: Kind) -> anyhow::Result<String> {
    let (model, what) = match kind {
        Kind { embeddings: true, .. } => (encoder::model(Encoder::Embeddings), "embeddings"),
        Kind { ranking: true, .. } => (encoder::model(Encoder::Ranking), "ranks documents"),
        Kind { endless, .. } => (model(endless), ""),
    };
    std::fs::write(out, model.to_bytes())
        .with_context(|| format!("failed to write `{}`", out.display()))?;
    if !what.is_empty() {
        return Ok(format!("{}: {what}", out.display()));
    }
    let (tokens, _) = vocabulary();
    Ok(format!("{}: {} tokens, {} of them the answer", out.display(), tokens.len(), SCRIPT.len()))
}

fn model(endless: bool) -> Gguf {
    let mut gguf = Gguf::default();
    let (tokens, types) = vocabulary();
    describe(&mut gguf, tokens.len(), endless);
    describe_tokens(&mut gguf, tokens, types);
    add_tensors(&mut gguf, endless);
    gguf
}

/// Returns the tokens and their kinds: control tokens, one token for each byte, then the script.
fn vocabulary() -> (Vec<String>, Vec<i32>) {
    let control = CONTROL_TOKENS.iter().map(|&token| (token.to_owned(), TYPE_CONTROL));
    let bytes = (0..=u8::MAX).map(|byte| (format!("<0x{byte:02X}>"), TYPE_BYTE));
    let script = SCRIPT.iter().map(|&token| (token.to_owned(), TYPE_NORMAL));
    let (tokens, mut types): (Vec<_>, Vec<_>) = control.chain(bytes).chain(script).unzip();
    types[0] = TYPE_UNKNOWN;
    (tokens, types)
}

/// Returns the successor of each token.
fn successors(endless: bool) -> Vec<usize> {
    let count = vocabulary().0.len();
    let first = count - SCRIPT.len();
    let last = count - 1;
    let after_last = if endless { first } else { END as usize };
    let follow = |token: usize| match token {
        token if token < first => first,
        token if token < last => token + 1,
        _ => after_last,
    };
    (0..count).map(follow).collect()
}

fn describe(gguf: &mut Gguf, tokens: usize, endless: bool) {
    let name = if endless { "tiny-scripted-loop" } else { "tiny-scripted" };
    gguf.set("general.architecture", text("llama"));
    gguf.set("general.name", text(name));
    gguf.set("general.license", text("CC0-1.0"));
    gguf.set("general.file_type", Value::U32(MOSTLY_F16));
    gguf.set("llama.context_length", Value::U32(CONTEXT));
    gguf.set("llama.embedding_length", count(EMBEDDING));
    gguf.set("llama.block_count", Value::U32(1));
    gguf.set("llama.feed_forward_length", count(FEED_FORWARD));
    gguf.set("llama.attention.head_count", count(HEADS));
    gguf.set("llama.attention.head_count_kv", count(HEADS));
    gguf.set("llama.attention.layer_norm_rms_epsilon", Value::F32(1e-5));
    gguf.set("llama.rope.dimension_count", count(EMBEDDING / HEADS));
    gguf.set("llama.vocab_size", count(tokens));
}

fn describe_tokens(gguf: &mut Gguf, tokens: Vec<String>, types: Vec<i32>) {
    let scores = (0..tokens.len()).map(|token| -(token as f32)).collect();
    gguf.set("tokenizer.ggml.model", text("llama"));
    gguf.set("tokenizer.ggml.tokens", Value::Texts(tokens));
    gguf.set("tokenizer.ggml.scores", Value::F32s(scores));
    gguf.set("tokenizer.ggml.token_type", Value::I32s(types));
    gguf.set("tokenizer.ggml.bos_token_id", Value::U32(BEGIN));
    gguf.set("tokenizer.ggml.eos_token_id", Value::U32(END));
    gguf.set("tokenizer.ggml.unknown_token_id", Value::U32(UNKNOWN));
    gguf.set("tokenizer.ggml.add_bos_token", Value::Bool(true));
    gguf.set("tokenizer.ggml.add_eos_token", Value::Bool(false));
    gguf.set("tokenizer.ggml.add_space_prefix", Value::Bool(false));
    gguf.set("tokenizer.chat_template", text(CHAT_TEMPLATE));
}

fn add_tensors(gguf: &mut Gguf, endless: bool) {
    let successors = successors(endless);
    let tokens = successors.len();
    let diagonal = (0..tokens).map(|token| (token, token));
    let script = successors.iter().copied().zip(0..tokens);
    gguf.add("token_embd.weight", &[tokens, EMBEDDING], matrix(tokens, diagonal, Half::ONE));
    gguf.add("output_norm.weight", &[EMBEDDING], ones());
    gguf.add("output.weight", &[tokens, EMBEDDING], matrix(tokens, script, Half::ONE_AND_A_HALF));
    for norm in ["attn_norm", "ffn_norm"] {
        gguf.add(&format!("blk.0.{norm}.weight"), &[EMBEDDING], ones());
    }
    for attention in ["attn_q", "attn_k", "attn_v", "attn_output"] {
        gguf.add(
            &format!("blk.0.{attention}.weight"),
            &[EMBEDDING, EMBEDDING],
            zeros(EMBEDDING * EMBEDDING),
        );
    }
    for (name, shape) in [
        ("ffn_gate", [FEED_FORWARD, EMBEDDING]),
        ("ffn_up", [FEED_FORWARD, EMBEDDING]),
        ("ffn_down", [EMBEDDING, FEED_FORWARD]),
    ] {
        gguf.add(&format!("blk.0.{name}.weight"), &shape, zeros(FEED_FORWARD * EMBEDDING));
    }
}

/// Returns a matrix of zeros, with `weight` at each place (row, column).
fn matrix(rows: usize, places: impl Iterator<Item = (usize, usize)>, weight: Half) -> Data {
    let mut numbers = vec![Half::ZERO; rows * EMBEDDING];
    for (row, column) in places {
        numbers[row * EMBEDDING + column] = weight;
    }
    Data::F16(numbers)
}

fn ones() -> Data {
    Data::F32(vec![1.0; EMBEDDING])
}

fn zeros(length: usize) -> Data {
    Data::F16(vec![Half::ZERO; length])
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn count(number: usize) -> Value {
    Value::U32(u32::try_from(number).expect("the model is tiny"))
}

#[cfg(test)]
mod tests {
    use sha2::{Digest as _, Sha256};

    use super::*;

    /// Returns the tokens after `start`, up to the end of the answer or `limit`.
    fn answer(start: usize, endless: bool, limit: usize) -> Vec<String> {
        let (tokens, _) = vocabulary();
        let successors = successors(endless);
        let chain =
            std::iter::successors(Some(successors[start]), |&token| Some(successors[token]));
        chain
            .take_while(|&token| token != END as usize)
            .take(limit)
            .map(|token| tokens[token].clone())
            .collect()
    }

    #[test]
    fn every_prompt_leads_to_the_script_and_its_end() {
        for start in 0..CONTROL_TOKENS.len() + 256 {
            assert_eq!(answer(start, false, 100), SCRIPT);
        }
    }

    #[test]
    fn the_endless_model_begins_again() {
        let twice = answer(0, true, 2 * SCRIPT.len());
        assert_eq!(twice[..SCRIPT.len()], twice[SCRIPT.len()..]);
    }

    #[test]
    fn the_vocabulary_fits_the_embedding() {
        assert!(vocabulary().0.len() <= EMBEDDING);
    }

    #[test]
    fn the_models_are_the_same_bytes_on_every_machine() {
        let digest = |endless| -> String {
            Sha256::digest(model(endless).to_bytes())
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect()
        };
        assert_eq!(
            digest(false),
            "b4d57d4343b1101f3d6088974bacad75dbe8a0a9c922d49a26a13f36c8fe2227"
        );
        assert_eq!(
            digest(true),
            "ee16d9eaffc47a15993c629139eab99fd82704e4fb20a1004bf3cf9dd8a30e9e"
        );
    }
}
