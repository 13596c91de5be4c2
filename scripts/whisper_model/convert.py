"""Writes a Whisper model in the format of whisper.cpp.

The source is a folder with a model in CTranslate2's format, half precision: model.bin and vocabulary.txt. Matrices are
copied byte for byte; vectors and position embeddings become single precision, as whisper.cpp wants them. Instead of a
folder, `empty` stands for a model without weights: whisper.cpp loads such a file and transcribes nothing.

  usage: convert.py FOLDER|empty OUT
"""

import math
import pathlib
import struct
import sys

MAGIC = 0x67676D6C
SINGLE, HALF = 0, 1
# CTranslate2's number for half precision.
SOURCE_HALF = 4
AUDIO_POSITIONS, MELS = 1500, 80
# Tokens that are text. The tokens behind them are commands, which whisper.cpp names itself.
TEXT_TOKENS = 50256
SAMPLE_RATE, WINDOW = 16_000, 400


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    source, out = sys.argv[1], pathlib.Path(sys.argv[2])
    if source == "empty":
        tokens = [bytes([byte]) for byte in range(256)]
        model = [header((51864, AUDIO_POSITIONS, 64, 1, 1, 448, 64, 1, 1, MELS, HALF)), mel_filters(), text(tokens)]
    else:
        model = converted(pathlib.Path(source))
    with out.open("wb") as file:
        file.writelines(model)
    print(f"{out}: {out.stat().st_size} bytes", file=sys.stderr)


def converted(folder):
    """Returns the parts of the file: the header, the filters, the vocabulary, then one part for each tensor."""
    source = read(memoryview((folder / "model.bin").read_bytes()))
    vocabulary, state = source["decoder/embeddings/weight"][0]
    if vocabulary != 51864:
        raise SystemExit("convert: only models for English are supported")
    positions = source["decoder/position_encodings/encodings"][0][0]
    layers = [sum(f"{part}/layer_{at}/ffn/linear_0/weight" in source for at in range(64)) for part in ("encoder", "decoder")]
    heads = state // 64
    sizes = (vocabulary, AUDIO_POSITIONS, state, heads, layers[0], positions, state, heads, layers[1], MELS, HALF)
    words = (folder / "vocabulary.txt").read_text(encoding="utf-8").split("\n")[:TEXT_TOKENS]
    letters = byte_letters()
    tokens = [bytes(letters[letter] for letter in word) for word in words]
    return [header(sizes), mel_filters(), text(tokens), *tensors(source, *layers)]


def read(data):
    """Returns the tensors of a CTranslate2 model by name, each as its shape and its bytes."""
    at = 0

    def number(form):
        nonlocal at
        value, = struct.unpack_from("<" + form, data, at)
        at += struct.calcsize("<" + form)
        return value

    def name():
        nonlocal at
        length = number("H")
        at += length
        return bytes(data[at - length : at - 1]).decode()

    number("I"), name(), number("I")
    found = {}
    for _ in range(number("I")):
        key = name()
        shape = tuple(number("I") for _ in range(number("B")))
        kind, length = number("B"), number("I")
        if kind == SOURCE_HALF:
            found[key] = shape, data[at : at + length]
        at += length
    for _ in range(number("I")):
        alias, key = name(), name()
        found[alias] = found[key]
    return found


def tensors(source, encoder_layers, decoder_layers):
    """Yields every tensor as whisper.cpp names it."""

    def one(target, key):
        return tensor(target, *source[key])

    def normal(target, key):
        yield one(f"{target}.weight", f"{key}/gamma")
        yield one(f"{target}.bias", f"{key}/beta")

    def linear(target, key):
        yield one(f"{target}.weight", f"{key}/weight")
        yield one(f"{target}.bias", f"{key}/bias")

    def split(targets, key):
        # CTranslate2 stores the matrices that read the same input as one matrix. Keys have no bias in whisper.cpp.
        for part, target in enumerate(targets):
            for kind in ("weight", "bias"):
                (rows, *columns), data = source[f"{key}/{kind}"]
                length = len(data) // len(targets)
                data = data[part * length : (part + 1) * length]
                if (kind, target.rpartition(".")[2]) != ("bias", "key"):
                    yield tensor(f"{target}.{kind}", (rows // len(targets), *columns), data)
                elif any(data):
                    raise SystemExit(f"convert: {target} has a bias")

    def attention(target, key):
        yield from split([f"{target}.query", f"{target}.key", f"{target}.value"], f"{key}/linear_0")
        yield from linear(f"{target}.out", f"{key}/linear_1")

    def block(target, key):
        yield from normal(f"{target}.attn_ln", f"{key}/self_attention/layer_norm")
        yield from attention(f"{target}.attn", f"{key}/self_attention")
        yield from normal(f"{target}.mlp_ln", f"{key}/ffn/layer_norm")
        yield from linear(f"{target}.mlp.0", f"{key}/ffn/linear_0")
        yield from linear(f"{target}.mlp.2", f"{key}/ffn/linear_1")

    yield one("encoder.positional_embedding", "encoder/position_encodings/encodings")
    for name in ("conv1", "conv2"):
        yield one(f"encoder.{name}.weight", f"encoder/{name}/weight")
        shape, data = source[f"encoder/{name}/bias"]
        yield tensor(f"encoder.{name}.bias", (*shape, 1), data)
    for layer in range(encoder_layers):
        yield from block(f"encoder.blocks.{layer}", f"encoder/layer_{layer}")
    yield from normal("encoder.ln_post", "encoder/layer_norm")
    yield one("decoder.positional_embedding", "decoder/position_encodings/encodings")
    yield one("decoder.token_embedding.weight", "decoder/embeddings/weight")
    for layer in range(decoder_layers):
        target, key = f"decoder.blocks.{layer}", f"decoder/layer_{layer}"
        yield from block(target, key)
        yield from normal(f"{target}.cross_attn_ln", f"{key}/attention/layer_norm")
        yield from linear(f"{target}.cross_attn.query", f"{key}/attention/linear_0")
        yield from split([f"{target}.cross_attn.key", f"{target}.cross_attn.value"], f"{key}/attention/linear_1")
        yield from linear(f"{target}.cross_attn.out", f"{key}/attention/linear_2")
    yield from normal("decoder.ln", "decoder/layer_norm")


def tensor(name, shape, data):
    single = len(shape) < 2 or name.endswith(("positional_embedding", "conv1.bias", "conv2.bias"))
    if single:
        count = len(data) // 2
        data = struct.pack(f"<{count}f", *struct.unpack(f"<{count}e", data))
    label = name.encode()
    head = struct.pack(f"<{3 + len(shape)}i", len(shape), len(label), SINGLE if single else HALF, *reversed(shape))
    return head + label + bytes(data)


def header(sizes):
    return struct.pack("<I11i", MAGIC, *sizes)


def text(tokens):
    return struct.pack("<i", len(tokens)) + b"".join(struct.pack("<i", len(token)) + token for token in tokens)


def mel_filters():
    """Returns the filters that sum a spectrum into the bands of Slaney's mel scale."""
    linear_step, log_step, knee = 200 / 3, math.log(6.4) / 27, 1000

    def hertz(mel):
        above = mel - knee / linear_step
        return knee * math.exp(log_step * above) if above >= 0 else linear_step * mel

    top = knee / linear_step + math.log(SAMPLE_RATE / 2 / knee) / log_step
    edges = [hertz(top * at / (MELS + 1)) for at in range(MELS + 2)]
    bins = WINDOW // 2 + 1
    values = []
    for low, middle, high in zip(edges, edges[1:], edges[2:]):
        for at in range(bins):
            frequency = SAMPLE_RATE / 2 * at / (bins - 1)
            weight = min((frequency - low) / (middle - low), (high - frequency) / (high - middle))
            values.append(max(0.0, weight) * 2 / (high - low))
    return struct.pack(f"<2i{len(values)}f", MELS, bins, *values)


def byte_letters():
    """Returns the byte for which each letter of the vocabulary stands."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {chr(byte): byte for byte in plain}
    others = [byte for byte in range(256) if byte not in plain]
    return letters | {chr(256 + at): byte for at, byte in enumerate(others)}


if __name__ == "__main__":
    main()
