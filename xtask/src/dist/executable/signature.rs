//! The signature inside a program for macOS. It holds a hash of each page of the program, and the kernel of a Mac with an
//! Apple processor ends a program as soon as a page does not match its hash.
//!
//! The numbers and their places are those of Apple's `cs_blobs.h`. The highest byte of a number comes first.

use anyhow::{Context as _, ensure};
use sha2::{Digest as _, Sha256};

/// The first bytes of a signature, which is a list of parts.
const SIGNATURE: u32 = 0xfade_0cc0;
/// The first bytes of the part with the hashes.
const CODE_DIRECTORY: u32 = 0xfade_0c02;
/// The kind of hash: SHA-256.
const KIND: u8 = 2;
/// The size of a hash in bytes.
const HASH: usize = 32;

/// Refuses a `program` whose signature, which starts at the byte `start`, does not match each page before it.
pub(super) fn ensure_matches(program: &[u8], start: usize) -> anyhow::Result<()> {
    let cut = "the signature of the executable is cut off";
    let (code, signature) = program.split_at_checked(start).context(cut)?;
    ensure!(number(signature, 0) == Some(SIGNATURE), "the signature of the executable is damaged");
    let count = place(signature, 8).context(cut)?;
    let mut parts = (0..count)
        .map_while(|index| place(signature, 16 + 8 * index))
        .filter_map(|part| signature.get(part..));
    let directory = parts
        .find(|part| number(part, 0) == Some(CODE_DIRECTORY))
        .context("the signature of the executable has no hashes")?;
    let hashes = place(directory, 16).and_then(|at| directory.get(at..)).context(cut)?;
    let limit = place(directory, 32).context(cut)?;
    let [size, kind, _, page] = directory.get(36..40).and_then(<[u8]>::first_chunk).context(cut)?;
    ensure!(
        *kind == KIND && usize::from(*size) == HASH,
        "the signature of the executable has other hashes than SHA-256"
    );
    ensure!(limit == code.len(), "the signature covers {limit} of {} bytes", code.len());
    let page = 1_usize.checked_shl(u32::from(*page)).context(cut)?;
    let expected = hashes.chunks_exact(HASH).take(place(directory, 28).context(cut)?);
    ensure!(
        code.chunks(page)
            .map(|page| Sha256::digest(page).to_vec())
            .eq(expected.map(<[u8]>::to_vec)),
        "the executable was changed after it was signed, so it does not start"
    );
    Ok(())
}

/// Returns the number at the byte `at`.
fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|four| u32::from_be_bytes(*four))
}

/// Returns the place or the amount at the byte `at`.
fn place(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(number(bytes, at)?).ok()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns the signature of a program whose bytes before the signature are `code`.
    pub(in super::super) fn signature(code: &[u8]) -> Vec<u8> {
        let hashes: Vec<u8> = code.chunks(4096).flat_map(Sha256::digest).collect();
        let (fields, slots) = (44_u32, u32::try_from(hashes.len() / HASH).unwrap());
        let limit = u32::try_from(code.len()).unwrap();
        let size = fields + u32::try_from(hashes.len()).unwrap();
        let directory = [CODE_DIRECTORY, size, 0x2_0400, 0x2_0002, fields, fields, 0, slots, limit];
        let list = [SIGNATURE, 20 + size, 1, 0, 20];
        let mut bytes =
            list.into_iter().chain(directory).flat_map(u32::to_be_bytes).collect::<Vec<_>>();
        bytes.extend([32, KIND, 0, 12, 0, 0, 0, 0]);
        bytes.extend(hashes);
        bytes
    }

    #[test]
    fn a_signature_matches_only_what_it_was_made_of() {
        let code: Vec<u8> = (0..10_000_u32).map(|at| at.to_le_bytes()[0]).collect();
        let signed = [code.clone(), signature(&code)].concat();
        ensure_matches(&signed, code.len()).unwrap();
        for changed in [0, 4095, 4096, 9_999] {
            let mut other = signed.clone();
            other[changed] ^= 1;
            let refused = ensure_matches(&other, code.len()).unwrap_err().to_string();
            assert!(refused.contains("was changed after it was signed"), "{refused}");
        }
    }

    #[test]
    fn a_signature_that_is_cut_or_of_another_kind_is_refused() {
        let code = vec![7; 5_000];
        let signed = [code.clone(), signature(&code)].concat();
        for length in code.len()..signed.len() {
            ensure_matches(&signed[..length], code.len()).unwrap_err();
        }
        ensure_matches(&signed, signed.len() + 1).unwrap_err();
        let (directory, sizes) = (code.len() + 20, code.len() + 20 + 36);
        for (place, byte, why) in [
            (code.len(), 0, "damaged"),
            (directory, 0, "has no hashes"),
            (directory + 35, 0, "covers 4864 of 5000 bytes"),
            (sizes + 1, 1, "other hashes than SHA-256"),
            (sizes + 3, 200, "cut off"),
        ] {
            let mut other = signed.clone();
            other[place] = byte;
            let refused = ensure_matches(&other, code.len()).unwrap_err().to_string();
            assert!(refused.contains(why), "{refused}");
        }
    }
}
