//! `model.json` of an image classifier.
//!
//! ```json
//! {"task": "image", "width": 224, "height": 224, "layout": "nchw", "channels": "rgb", "resize": "crop",
//!  "shorter_side": 256, "scale": 0.00392156862745098, "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225],
//!  "activation": "softmax", "labels": ["cat", "dog"]}
//! ```
//!
//! | member | meaning | default |
//! |---|---|---|
//! | `task` | `image` | |
//! | `width`, `height` | pixels of the input, 1 to 4096 | |
//! | `layout` | `nchw` (a plane for each channel) or `nhwc` (channels of a pixel together) | `nchw` |
//! | `channels` | `rgb` or `bgr` | `rgb` |
//! | `resize` | `stretch` to the input, or keep the proportions and `crop` the middle | `stretch` |
//! | `shorter_side` | for `crop`: pixels of the shorter side before the crop, up to 8192 | what just covers the input |
//! | `scale`, `mean`, `std` | an input number is (value of 0 to 255 × scale − mean) ÷ std, by channel | 1/255, 0, 1 |
//! | `activation` | `softmax`, or `none` if the outputs are scores | `none` |
//! | `labels` | a name for each output | labels.txt |

use serde::Deserialize;

use super::{InvalidSettings, parse_json, within};
use crate::{labels::Labels, scores::Activation};

/// What an image becomes before a network reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageSettings {
    /// Pixels.
    pub width: usize,
    /// Pixels.
    pub height: usize,
    pub layout: Layout,
    pub channels: Channels,
    pub resize: Resize,
    pub scale: f32,
    /// One number for each channel, in the order of `channels`.
    pub mean: [f32; 3],
    /// One number for each channel, in the order of `channels`. Never 0.
    pub std: [f32; 3],
    pub activation: Activation,
    pub labels: Option<Labels>,
}

/// The order of an image's numbers.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// `[1, 3, height, width]`.
    #[default]
    Nchw,
    /// `[1, height, width, 3]`.
    Nhwc,
}

/// The order of the channels.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Channels {
    #[default]
    Rgb,
    Bgr,
}

/// How an image gets the size of the input.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Resize {
    /// Changes the proportions.
    Stretch,
    /// Resizes to this shorter side in pixels, or to what just covers the input, and takes the middle.
    Crop { shorter_side: Option<usize> },
}

impl ImageSettings {
    /// Reads `model.json`.
    ///
    /// # Errors
    /// If the bytes are no JSON of the schema above, or a number is outside its bounds.
    pub fn parse(bytes: &[u8]) -> Result<Self, InvalidSettings> {
        let json: Json = parse_json(bytes)?;
        let Json { task: Task::Image, .. } = json;
        let width = within("width", json.width, 1..=4096, "1 to 4096")?;
        let height = within("height", json.height, 1..=4096, "1 to 4096")?;
        let resize = match (json.resize, json.shorter_side) {
            (ResizeJson::Stretch, None) => Resize::Stretch,
            (ResizeJson::Stretch, Some(_)) => {
                let fault = "is only for `\"resize\": \"crop\"`";
                return Err(InvalidSettings::Conflict { member: "shorter_side", fault });
            }
            (ResizeJson::Crop, None) => Resize::Crop { shorter_side: None },
            (ResizeJson::Crop, Some(side)) => {
                let side = within("shorter_side", side, 1..=8192, "1 to 8192")?;
                if side < width.max(height) {
                    let fault = "is smaller than the input";
                    return Err(InvalidSettings::Conflict { member: "shorter_side", fault });
                }
                Resize::Crop { shorter_side: Some(side) }
            }
        };
        let labels = json.labels.map(Labels::try_from).transpose();
        Ok(Self {
            width,
            height,
            layout: json.layout,
            channels: json.channels,
            resize,
            scale: number("scale", json.scale, |scale| scale != 0.0)?,
            mean: numbers("mean", json.mean, |_| true)?,
            std: numbers("std", json.std, |std| std > 0.0)?,
            activation: json.activation,
            labels: labels.map_err(InvalidSettings::Labels)?,
        })
    }
}

fn numbers(
    member: &'static str,
    values: [f64; 3],
    is_allowed: fn(f32) -> bool,
) -> Result<[f32; 3], InvalidSettings> {
    let [one, two, three] = values.map(|value| number(member, value, is_allowed));
    Ok([one?, two?, three?])
}

fn number(
    member: &'static str,
    value: f64,
    is_allowed: fn(f32) -> bool,
) -> Result<f32, InvalidSettings> {
    #[expect(clippy::cast_possible_truncation, reason = "rounded to what a network reads")]
    let rounded = value as f32;
    // A tiny divisor would make infinite numbers out of pixels.
    let is_tiny = rounded != 0.0 && rounded.abs() < 1e-9;
    if rounded.abs() <= 1e9 && !is_tiny && is_allowed(rounded) {
        return Ok(rounded);
    }
    let allowed = "a number from 1e-9 to 1e9, `mean` also 0 or below";
    Err(InvalidSettings::Range { member, found: value.to_string(), allowed })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Json {
    task: Task,
    width: u32,
    height: u32,
    #[serde(default)]
    layout: Layout,
    #[serde(default)]
    channels: Channels,
    #[serde(default)]
    resize: ResizeJson,
    shorter_side: Option<u32>,
    #[serde(default = "one_of_255")]
    scale: f64,
    #[serde(default)]
    mean: [f64; 3],
    #[serde(default = "ones")]
    std: [f64; 3],
    #[serde(default)]
    activation: Activation,
    labels: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Task {
    Image,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ResizeJson {
    #[default]
    Stretch,
    Crop,
}

const fn one_of_255() -> f64 {
    1.0 / 255.0
}

const fn ones() -> [f64; 3] {
    [1.0; 3]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_has_a_default() {
        let settings =
            ImageSettings::parse(br#"{"task":"image","width":224,"height":192}"#).unwrap();
        assert_eq!((settings.width, settings.height), (224, 192));
        assert_eq!((settings.layout, settings.channels), (Layout::Nchw, Channels::Rgb));
        assert_eq!((settings.resize, settings.activation), (Resize::Stretch, Activation::None));
        assert_eq!((settings.mean, settings.std), ([0.0; 3], [1.0; 3]));
        assert!((settings.scale - 1.0 / 255.0).abs() < 1e-9);
        assert_eq!(settings.labels, None);
    }

    #[test]
    fn a_whole_description_is_read() {
        let settings = ImageSettings::parse(
            br#"{"task":"image","width":224,"height":224,"layout":"nhwc","channels":"bgr","resize":"crop",
                "shorter_side":256,"scale":1,"mean":[1,2,3],"std":[4,5,6],"activation":"softmax","labels":["a"]}"#,
        )
        .unwrap();
        assert_eq!(settings.resize, Resize::Crop { shorter_side: Some(256) });
        assert_eq!((settings.layout, settings.channels), (Layout::Nhwc, Channels::Bgr));
        assert_eq!((settings.mean, settings.std), ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]));
        assert_eq!(settings.labels.unwrap().count(), 1);
    }

    #[test]
    fn a_wrong_description_names_its_fault() {
        let with = |more: &str| {
            let text = format!(r#"{{"task":"image","width":8,"height":8{more}}}"#);
            ImageSettings::parse(text.as_bytes())
        };
        assert!(with("").is_ok());
        for (more, word) in [
            (r#","wdith":3"#, "not the JSON"),
            (r#","layout":"hwcn""#, "not the JSON"),
            (r#","mean":[1,2]"#, "not the JSON"),
            (r#","width":8"#, "not the JSON"),
            (r#","scale":0"#, "`scale`"),
            (r#","scale":1e300"#, "`scale`"),
            (r#","std":[1,0,1]"#, "`std`"),
            (r#","std":[1,-1,1]"#, "`std`"),
            (r#","std":[1,1e-40,1]"#, "`std`"),
            (r#","shorter_side":8"#, "`shorter_side`"),
            (r#","resize":"crop","shorter_side":7"#, "`shorter_side`"),
            (r#","resize":"crop","shorter_side":9999"#, "`shorter_side`"),
            (r#","labels":[]"#, "`labels`"),
            (r#","labels":["a\u0000"]"#, "`labels`"),
        ] {
            let fault = with(more).unwrap_err().to_string();
            assert!(fault.contains(word), "{more}: {fault}");
        }
        for text in [
            r#"{"task":"image","width":0,"height":8}"#,
            r#"{"task":"image","width":4097,"height":8}"#,
            r#"{"task":"image","width":8}"#,
            r#"{"task":"audio","width":8,"height":8}"#,
            r#"{"width":8,"height":8}"#,
            "[]",
            "",
        ] {
            assert!(ImageSettings::parse(text.as_bytes()).is_err(), "{text}");
        }
    }
}
