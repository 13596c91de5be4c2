//! The GGUF container, version 3: a header, typed key-value pairs, a list of tensors and their
//! aligned data.
//!
//! Everything is little-endian. Tensors are written in the order in which they were added, each padded to
//! [`ALIGNMENT`]. The offset of a tensor counts from the beginning of the data.

const MAGIC: &[u8; 4] = b"GGUF";
const VERSION: u32 = 3;
/// The alignment of the tensor data and of its beginning.
const ALIGNMENT: usize = 32;

/// The value of a key.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    U32(u32),
    F32(f32),
    Bool(bool),
    Text(String),
    Texts(Vec<String>),
    F32s(Vec<f32>),
    I32s(Vec<i32>),
}

/// The numbers of a tensor, row by row.
#[derive(Clone, Debug)]
pub(crate) enum Data {
    F32(Vec<f32>),
    F16(Vec<Half>),
}

/// A 16-bit float, as its bits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Half(pub(crate) u16);

impl Half {
    pub(crate) const ZERO: Self = Self(0x0000);
    pub(crate) const ONE: Self = Self(0x3c00);
    pub(crate) const ONE_AND_A_HALF: Self = Self(0x3e00);
}

/// A GGUF file under construction.
#[derive(Debug, Default)]
pub(crate) struct Gguf {
    pairs: Vec<(String, Value)>,
    tensors: Vec<Tensor>,
}

#[derive(Debug)]
struct Tensor {
    name: String,
    /// The shape, outermost dimension first. The file stores it in reverse order.
    shape: Vec<usize>,
    data: Data,
}

impl Gguf {
    /// Adds a key-value pair. The pairs keep their order.
    pub(crate) fn set(&mut self, key: &str, value: Value) {
        self.pairs.push((key.to_owned(), value));
    }

    /// Adds a tensor of `shape`, outermost dimension first.
    pub(crate) fn add(&mut self, name: &str, shape: &[usize], data: Data) {
        debug_assert_eq!(shape.iter().product::<usize>(), data.count(), "{name}");
        self.tensors.push(Tensor { name: name.to_owned(), shape: shape.to_vec(), data });
    }

    /// Returns the bytes of the file.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut file = Vec::new();
        file.extend(MAGIC);
        file.extend(VERSION.to_le_bytes());
        put_count(&mut file, self.tensors.len());
        put_count(&mut file, self.pairs.len());
        for (key, value) in &self.pairs {
            put_text(&mut file, key);
            put_value(&mut file, value);
        }
        let mut offset = 0;
        for tensor in &self.tensors {
            put_description(&mut file, tensor, offset);
            offset += aligned(tensor.data.size());
        }
        pad(&mut file);
        for tensor in &self.tensors {
            put_data(&mut file, &tensor.data);
            pad(&mut file);
        }
        file
    }
}

impl Data {
    fn count(&self) -> usize {
        match self {
            Self::F32(numbers) => numbers.len(),
            Self::F16(numbers) => numbers.len(),
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::F32(numbers) => numbers.len() * size_of::<f32>(),
            Self::F16(numbers) => numbers.len() * size_of::<u16>(),
        }
    }

    fn tag(&self) -> u32 {
        match self {
            Self::F32(_) => 0,
            Self::F16(_) => 1,
        }
    }
}

impl Value {
    const I32_TAG: u32 = 5;
    const F32_TAG: u32 = 6;
    const TEXT_TAG: u32 = 8;
    const ARRAY_TAG: u32 = 9;

    fn tag(&self) -> u32 {
        match self {
            Self::U32(_) => 4,
            Self::F32(_) => Self::F32_TAG,
            Self::Bool(_) => 7,
            Self::Text(_) => Self::TEXT_TAG,
            Self::Texts(_) | Self::F32s(_) | Self::I32s(_) => Self::ARRAY_TAG,
        }
    }
}

fn put_value(file: &mut Vec<u8>, value: &Value) {
    file.extend(value.tag().to_le_bytes());
    match value {
        Value::U32(number) => file.extend(number.to_le_bytes()),
        Value::F32(number) => file.extend(number.to_le_bytes()),
        Value::Bool(flag) => file.push(u8::from(*flag)),
        Value::Text(text) => put_text(file, text),
        Value::Texts(texts) => {
            put_array(file, Value::TEXT_TAG, texts.len());
            texts.iter().for_each(|text| put_text(file, text));
        }
        Value::F32s(numbers) => {
            put_array(file, Value::F32_TAG, numbers.len());
            file.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        }
        Value::I32s(numbers) => {
            put_array(file, Value::I32_TAG, numbers.len());
            file.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        }
    }
}

fn put_array(file: &mut Vec<u8>, tag: u32, count: usize) {
    file.extend(tag.to_le_bytes());
    put_count(file, count);
}

fn put_description(file: &mut Vec<u8>, tensor: &Tensor, offset: usize) {
    put_text(file, &tensor.name);
    let dimensions = u32::try_from(tensor.shape.len()).expect("a tensor has few dimensions");
    file.extend(dimensions.to_le_bytes());
    tensor.shape.iter().rev().for_each(|&length| put_count(file, length));
    file.extend(tensor.data.tag().to_le_bytes());
    put_count(file, offset);
}

fn put_data(file: &mut Vec<u8>, data: &Data) {
    match data {
        Data::F32(numbers) => file.extend(numbers.iter().flat_map(|number| number.to_le_bytes())),
        Data::F16(numbers) => file.extend(numbers.iter().flat_map(|number| number.0.to_le_bytes())),
    }
}

fn put_text(file: &mut Vec<u8>, text: &str) {
    put_count(file, text.len());
    file.extend(text.as_bytes());
}

fn put_count(file: &mut Vec<u8>, count: usize) {
    file.extend((count as u64).to_le_bytes());
}

fn pad(file: &mut Vec<u8>) {
    file.resize(aligned(file.len()), 0);
}

fn aligned(size: usize) -> usize {
    size.next_multiple_of(ALIGNMENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_is_a_padded_header() {
        let bytes = Gguf::default().to_bytes();
        assert_eq!(bytes[..8], *b"GGUF\x03\0\0\0");
        assert_eq!(bytes[8..], [0; 24]);
    }

    #[test]
    fn a_pair_is_its_key_its_type_and_its_value() {
        let mut gguf = Gguf::default();
        gguf.set("a", Value::Texts(vec!["b".to_owned()]));
        let bytes = gguf.to_bytes();
        assert_eq!(
            bytes[24..],
            *b"\x01\0\0\0\0\0\0\0a\x09\0\0\0\x08\0\0\0\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0b\0\0\0\0\0\0"
        );
    }

    #[test]
    fn tensors_are_aligned_and_their_offsets_count_from_the_data() {
        let mut gguf = Gguf::default();
        gguf.add("a", &[3], Data::F32(vec![1.0; 3]));
        gguf.add("b", &[1, 2], Data::F16(vec![Half::ONE, Half::ONE_AND_A_HALF]));
        let bytes = gguf.to_bytes();
        // Two descriptions: name (8 + 1), dimensions (4 + 8 each), type (4) and offset (8).
        let descriptions = (9 + 4 + 8 + 4 + 8) + (9 + 4 + 16 + 4 + 8);
        assert_eq!(bytes[24 + descriptions - 8..24 + descriptions], 32_u64.to_le_bytes());
        let data = (24 + descriptions).next_multiple_of(32);
        assert_eq!(bytes.len(), data + 32 + 32);
        assert_eq!(bytes[data..data + 4], 1.0_f32.to_le_bytes());
        assert_eq!(bytes[data + 32..data + 36], [0x00, 0x3c, 0x00, 0x3e]);
    }
}
