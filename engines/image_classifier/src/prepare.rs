//! From pixels to the numbers that a network reads. Pure.
//!
//! A crop is taken before the image is resized, so that an image of extreme proportions never becomes a huge one.

use image::{DynamicImage, RgbImage, imageops::FilterType};
use link_plugin_classifier::settings::image::{Channels, ImageSettings, Layout, Resize};

/// A part of an image, in pixels.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Rectangle {
    x: u32,
    y: u32,
    width: u32,
    height: u32,
}

/// Returns the `3 × height × width` numbers of an image, in the layout and the order that `settings` name.
pub(crate) fn numbers(image: RgbImage, settings: &ImageSettings) -> Vec<f32> {
    let part = visible_part(image.dimensions(), settings);
    let (width, height) = (side(settings.width), side(settings.height));
    let resized = DynamicImage::from(image)
        .crop_imm(part.x, part.y, part.width, part.height)
        .resize_exact(width, height, FilterType::Triangle)
        .into_rgb8();
    let plane = settings.width * settings.height;
    let mut numbers = vec![0.0; 3 * plane];
    for (at, pixel) in resized.pixels().enumerate() {
        for channel in 0..3 {
            let source = match settings.channels {
                Channels::Rgb => channel,
                Channels::Bgr => 2 - channel,
            };
            let target = match settings.layout {
                Layout::Nchw => channel * plane + at,
                Layout::Nhwc => at * 3 + channel,
            };
            let value = f32::from(pixel.0[source]) * settings.scale;
            numbers[target] = (value - settings.mean[channel]) / settings.std[channel];
        }
    }
    numbers
}

/// Returns the part of an image of this size that becomes the input.
fn visible_part((width, height): (u32, u32), settings: &ImageSettings) -> Rectangle {
    let whole = Rectangle { x: 0, y: 0, width, height };
    let Resize::Crop { shorter_side } = settings.resize else { return whole };
    let (wide, high) = (f64::from(side(settings.width)), f64::from(side(settings.height)));
    let factor = match shorter_side {
        Some(pixels) => f64::from(side(pixels)) / f64::from(width.min(height)),
        None => (wide / f64::from(width)).max(high / f64::from(height)),
    };
    let (part_width, part_height) = (rounded(wide / factor, width), rounded(high / factor, height));
    Rectangle {
        x: (width - part_width) / 2,
        y: (height - part_height) / 2,
        width: part_width,
        height: part_height,
    }
}

fn rounded(length: f64, longest: u32) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to `longest`")]
    let rounded = length.round().clamp(1.0, f64::from(longest)) as u32;
    rounded
}

/// Sides are bounded by the settings.
fn side(pixels: usize) -> u32 {
    u32::try_from(pixels).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_cropped() {
        let crop = |shorter| format!(r#","resize":"crop"{shorter}"#);
        let of = |more: &str, size| {
            let part = visible_part(size, &settings(4, 4, more));
            (part.x, part.y, part.width, part.height)
        };
        assert_eq!(of("", (100, 50)), (0, 0, 100, 50), "stretched");
        assert_eq!(of(&crop(""), (100, 50)), (25, 0, 50, 50));
        assert_eq!(of(&crop(""), (50, 100)), (0, 25, 50, 50));
        assert_eq!(of(&crop(r#","shorter_side":8"#), (100, 50)), (37, 12, 25, 25));
        assert_eq!(of(&crop(""), (1, 1)), (0, 0, 1, 1), "enlarged");
        assert_eq!(of(&crop(r#","shorter_side":8"#), (16_384, 1)), (8191, 0, 1, 1));
    }

    #[test]
    fn numbers_are_in_the_order_of_the_network() {
        // A red pixel beside a blue pixel.
        let image = RgbImage::from_raw(2, 1, vec![255, 0, 0, 0, 0, 255]).unwrap();
        let of = |more: &str| numbers(image.clone(), &settings(2, 1, more));
        assert_eq!(of(r#","scale":1"#), [255.0, 0.0, 0.0, 0.0, 0.0, 255.0]);
        assert_eq!(of(r#","scale":1,"channels":"bgr""#), [0.0, 255.0, 0.0, 0.0, 255.0, 0.0]);
        assert_eq!(of(r#","scale":1,"layout":"nhwc""#), [255.0, 0.0, 0.0, 0.0, 0.0, 255.0]);
        let bgr_together = of(r#","scale":1,"layout":"nhwc","channels":"bgr""#);
        assert_eq!(bgr_together, [0.0, 0.0, 255.0, 255.0, 0.0, 0.0]);
    }

    #[test]
    fn numbers_are_scaled_and_centred_by_channel() {
        let image = RgbImage::from_raw(1, 1, vec![10, 20, 30]).unwrap();
        let more = r#","scale":0.5,"mean":[1,2,3],"std":[2,4,8]"#;
        assert_eq!(numbers(image, &settings(1, 1, more)), [2.0, 2.0, 1.5]);
    }

    #[test]
    fn a_large_image_becomes_the_size_of_the_input() {
        for resize in ["", r#","resize":"crop""#] {
            let image = RgbImage::new(300, 20);
            assert_eq!(numbers(image, &settings(7, 5, resize)).len(), 3 * 7 * 5);
        }
    }

    fn settings(width: u32, height: u32, more: &str) -> ImageSettings {
        let text = format!(r#"{{"task":"image","width":{width},"height":{height}{more}}}"#);
        ImageSettings::parse(text.as_bytes()).unwrap()
    }
}
