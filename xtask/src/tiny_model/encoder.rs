//! Encoders (BERT) of 200 kB, for tests of embeddings and of ranking with a real engine.
//!
//! Every token has a dimension of its own, and the feed-forward is zero. Without attention, the embedding of a text is the
//! mean of the unit vectors of its tokens: texts with the same words have the same embedding. The ranker's attention adds
//! the mean of all tokens to each of them, and its score is the weight of [`RANKED`] in the first token: a document scores
//! higher the more often it says this word.

use super::{
    count,
    gguf::{Data, Gguf, Value},
    text,
};

/// What an encoder answers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Encoder {
    /// The mean of the tokens.
    Embeddings,
    /// A score of a document for a query.
    Ranking,
}

/// The word whose documents rank first.
const RANKED: &str = "▁river";
/// The words that are one token. `▁` is the beginning of a word.
const WORDS: &[&str] = &["▁boat", "▁on", "▁the", RANKED, "▁a", "▁town", "▁link"];
const CONTROL_TOKENS: &[&str] = &["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
const TYPE_NORMAL: i32 = 1;
const TYPE_CONTROL: i32 = 3;

const CONTEXT: usize = 512;
/// One dimension for each token: the words, the control tokens, and 26 letters twice.
const WIDTH: usize = 64;
const HEADS: usize = 2;
const FEED_FORWARD: usize = 32;
const ALL_F32: u32 = 0;
const POOLING_MEAN: u32 = 1;
const POOLING_RANK: u32 = 4;

/// Returns the model.
pub(super) fn model(encoder: Encoder) -> Gguf {
    let mut gguf = Gguf::default();
    describe(&mut gguf, encoder);
    add_tensors(&mut gguf, encoder);
    gguf
}

fn describe(gguf: &mut Gguf, encoder: Encoder) {
    let (name, pooling) = match encoder {
        Encoder::Embeddings => ("tiny-embeddings", POOLING_MEAN),
        Encoder::Ranking => ("tiny-ranking", POOLING_RANK),
    };
    let tokens = vocabulary();
    let types = (0..tokens.len()).map(|token| match token < CONTROL_TOKENS.len() {
        true => TYPE_CONTROL,
        false => TYPE_NORMAL,
    });
    let id = |token: &str| count(tokens.iter().position(|one| one == token).unwrap_or(0));
    gguf.set("general.architecture", text("bert"));
    gguf.set("general.name", text(name));
    gguf.set("general.license", text("CC0-1.0"));
    gguf.set("general.file_type", Value::U32(ALL_F32));
    gguf.set("bert.context_length", count(CONTEXT));
    gguf.set("bert.embedding_length", count(WIDTH));
    gguf.set("bert.block_count", Value::U32(1));
    gguf.set("bert.feed_forward_length", count(FEED_FORWARD));
    gguf.set("bert.attention.head_count", count(HEADS));
    gguf.set("bert.attention.layer_norm_epsilon", Value::F32(1e-12));
    gguf.set("bert.attention.causal", Value::Bool(false));
    gguf.set("bert.pooling_type", Value::U32(pooling));
    gguf.set("tokenizer.ggml.model", text("bert"));
    gguf.set("tokenizer.ggml.token_type_count", Value::U32(1));
    gguf.set("tokenizer.ggml.token_type", Value::I32s(types.collect()));
    for (name, token) in [
        ("bos", "[CLS]"),
        ("cls", "[CLS]"),
        ("eos", "[SEP]"),
        ("seperator", "[SEP]"),
        ("padding", "[PAD]"),
        ("unknown", "[UNK]"),
        ("mask", "[MASK]"),
    ] {
        gguf.set(&format!("tokenizer.ggml.{name}_token_id"), id(token));
    }
    gguf.set("tokenizer.ggml.tokens", Value::Texts(tokens));
}

/// Returns the tokens: control tokens, words, letters at the beginning of a word, letters within one.
fn vocabulary() -> Vec<String> {
    let plain = CONTROL_TOKENS.iter().chain(WORDS).map(|&token| token.to_owned());
    // `a` alone is among the words already.
    let first = ('b'..='z').map(|letter| format!("▁{letter}"));
    plain.chain(first).chain(('a'..='z').map(String::from)).collect()
}

fn add_tensors(gguf: &mut Gguf, encoder: Encoder) {
    let square = [WIDTH, WIDTH];
    let tokens = vocabulary();
    let attention = match encoder {
        Encoder::Embeddings => 0.0,
        Encoder::Ranking => 1.0,
    };
    gguf.add("token_embd.weight", &[tokens.len(), WIDTH], diagonal(tokens.len(), 1.0));
    gguf.add("position_embd.weight", &[CONTEXT, WIDTH], diagonal(CONTEXT, 0.0));
    gguf.add("token_types.weight", &[1, WIDTH], diagonal(1, 0.0));
    norm(gguf, "token_embd_norm");
    for (name, weight) in
        [("attn_q", 0.0), ("attn_k", 0.0), ("attn_v", attention), ("attn_output", attention)]
    {
        gguf.add(&format!("blk.0.{name}.weight"), &square, diagonal(WIDTH, weight));
        gguf.add(&format!("blk.0.{name}.bias"), &[WIDTH], zeros(WIDTH));
    }
    norm(gguf, "blk.0.attn_output_norm");
    gguf.add("blk.0.ffn_up.weight", &[FEED_FORWARD, WIDTH], zeros(FEED_FORWARD * WIDTH));
    gguf.add("blk.0.ffn_up.bias", &[FEED_FORWARD], zeros(FEED_FORWARD));
    gguf.add("blk.0.ffn_down.weight", &[WIDTH, FEED_FORWARD], zeros(FEED_FORWARD * WIDTH));
    gguf.add("blk.0.ffn_down.bias", &[WIDTH], zeros(WIDTH));
    norm(gguf, "blk.0.layer_output_norm");
    if encoder == Encoder::Ranking {
        gguf.add("cls.weight", &square, diagonal(WIDTH, 0.125));
        gguf.add("cls.bias", &[WIDTH], zeros(WIDTH));
        let score = tokens.iter().map(|token| f32::from(u8::from(token == RANKED)));
        let score = score.chain(std::iter::repeat(0.0)).take(WIDTH);
        gguf.add("cls.output.weight", &[1, WIDTH], Data::F32(score.collect()));
        gguf.add("cls.output.bias", &[1], zeros(1));
    }
}

fn norm(gguf: &mut Gguf, name: &str) {
    gguf.add(&format!("{name}.weight"), &[WIDTH], Data::F32(vec![1.0; WIDTH]));
    gguf.add(&format!("{name}.bias"), &[WIDTH], zeros(WIDTH));
}

/// Returns a matrix of zeros with `weight` on its diagonal.
fn diagonal(rows: usize, weight: f32) -> Data {
    let mut numbers = vec![0.0; rows * WIDTH];
    for place in 0..rows.min(WIDTH) {
        numbers[place * WIDTH + place] = weight;
    }
    Data::F32(numbers)
}

fn zeros(length: usize) -> Data {
    Data::F32(vec![0.0; length])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_has_a_dimension_of_its_own() {
        let mut tokens = vocabulary();
        assert!(tokens.len() <= WIDTH, "{}", tokens.len());
        tokens.sort();
        tokens.dedup();
        assert_eq!(tokens.len(), vocabulary().len());
    }
}
