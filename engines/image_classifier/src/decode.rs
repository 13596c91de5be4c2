//! From a file to pixels, within bounds that are checked before any pixel is decoded.
//!
//! Transparent pixels stand on white. The orientation that a camera notes in a file is not applied.

use std::io::Cursor;

use image::{DynamicImage, ImageFormat, ImageReader, RgbImage};
use link_plugin_classifier::refusal::{Refusal, decoding};

/// The formats that are read.
const FORMATS: &str = "JPEG, PNG, WebP";
/// Pixels of a side.
const SIDE: u32 = 16_384;
/// Pixels of an image.
const PIXELS: u64 = 50_000_000;

/// Decodes a file.
///
/// # Errors
/// If the format is unknown (415), the image exceeds a bound (413), or the file is damaged (422).
pub(crate) fn decode(file: &[u8]) -> Result<RgbImage, Refusal> {
    let format = format(file).ok_or_else(|| Refusal::unknown_format(FORMATS))?;
    let reader = || ImageReader::with_format(Cursor::new(file), format);
    let size = || reader().into_dimensions().map_err(|_| broken());
    let (width, height) = decoding(size)?;
    check_size(width, height)?;
    decoding(|| Ok(opaque(reader().decode().map_err(|_| broken())?)))
}

fn format(file: &[u8]) -> Option<ImageFormat> {
    if file.starts_with(b"\xff\xd8\xff") {
        Some(ImageFormat::Jpeg)
    } else if file.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some(ImageFormat::Png)
    } else if file.starts_with(b"RIFF") && file.get(8..12) == Some(b"WEBP") {
        Some(ImageFormat::WebP)
    } else {
        None
    }
}

fn check_size(width: u32, height: u32) -> Result<(), Refusal> {
    if width == 0 || height == 0 {
        return Err(broken());
    }
    if width > SIDE || height > SIDE || u64::from(width) * u64::from(height) > PIXELS {
        let message = format!(
            "The image has {width} × {height} pixels. Send at most 50 megapixels, and at most 16,384 on a side."
        );
        return Err(Refusal::too_large("too_many_pixels", message));
    }
    Ok(())
}

/// Puts an image on white.
fn opaque(image: DynamicImage) -> RgbImage {
    if !image.color().has_alpha() {
        return image.into_rgb8();
    }
    let transparent = image.into_rgba8();
    let (width, height) = transparent.dimensions();
    let mut opaque = RgbImage::new(width, height);
    for (target, source) in opaque.pixels_mut().zip(transparent.pixels()) {
        let [red, green, blue, alpha] = source.0.map(u16::from);
        let blend = |value: u16| (value * alpha + 255 * (255 - alpha)).div_euclid(255);
        #[expect(clippy::cast_possible_truncation, reason = "a mean of two values up to 255")]
        let blend = |value| blend(value) as u8;
        target.0 = [blend(red), blend(green), blend(blue)];
    }
    opaque
}

fn broken() -> Refusal {
    Refusal::broken_file("The image is damaged or truncated. Send a whole file.")
}

#[cfg(test)]
mod tests {
    use image::{Rgba, RgbaImage};

    use super::*;

    #[test]
    fn an_image_of_each_format_is_decoded() {
        for format in [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP] {
            let image = decode(&encode(&RgbImage::new(3, 2).into(), format)).unwrap();
            assert_eq!(image.dimensions(), (3, 2), "{format:?}");
        }
    }

    #[test]
    fn a_size_beyond_the_bounds_is_refused() {
        for (width, height, status) in [
            (16_384, 3_051, 200),
            (16_384, 3_052, 413),
            (16_385, 1, 413),
            (1, 16_385, 413),
            (7_071, 7_071, 200),
            (60_000, 60_000, 413),
            (u32::MAX, u32::MAX, 413),
            (0, 5, 422),
        ] {
            let found =
                check_size(width, height).map_or_else(|refusal| refusal.status.as_u16(), |()| 200);
            assert_eq!(found, status, "{width} × {height}");
        }
    }

    #[test]
    fn other_formats_are_named() {
        for file in [&b"GIF89a"[..], b"BM", b"%PDF", b"RIFF\0\0\0\0WAVE", b"\0", b"<svg>"] {
            let refusal = decode(file).unwrap_err();
            assert_eq!(refusal.status, 415);
            assert!(refusal.message.contains(FORMATS));
        }
    }

    #[test]
    fn a_damaged_file_is_refused() {
        for format in [ImageFormat::Png, ImageFormat::WebP] {
            let whole = encode(&noise(), format);
            let refusal = decode(&whole[..whole.len() / 2]).unwrap_err();
            assert_eq!(refusal.status, 422, "{format:?}");
        }
        for magic in [&b"\xff\xd8\xff\xe0"[..], b"\x89PNG\r\n\x1a\n", b"RIFF\x04\0\0\0WEBP"] {
            assert_eq!(decode(magic).unwrap_err().status, 422, "{magic:?}");
        }
    }

    #[test]
    fn transparent_pixels_stand_on_white() {
        let image = RgbaImage::from_fn(3, 1, |x, _| Rgba([0, 100, 200, [0, 51, 255][x as usize]]));
        let opaque = decode(&encode(&image.into(), ImageFormat::Png)).unwrap();
        let pixels: Vec<[u8; 3]> = opaque.pixels().map(|pixel| pixel.0).collect();
        assert_eq!(pixels, [[255, 255, 255], [204, 224, 244], [0, 100, 200]]);
    }

    fn noise() -> DynamicImage {
        RgbImage::from_fn(64, 64, |x, y| {
            image::Rgb([((x * 37) ^ (y * 91)) as u8, (x * y) as u8, 7])
        })
        .into()
    }

    fn encode(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
        let mut file = Cursor::new(Vec::new());
        image.write_to(&mut file, format).unwrap();
        file.into_inner()
    }
}
