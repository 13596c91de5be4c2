//! Classifies images with an ONNX network, behind the HTTP contract of `link_plugin_classifier`.

#![forbid(unsafe_code)]

mod classifier;
mod decode;
mod prepare;

fn main() -> anyhow::Result<()> {
    link_plugin_classifier::run::<classifier::ImageClassifier>()
}
