#!/usr/bin/env python3
"""An independent check of tessera-llm: the Llama forward pass in float64 with numpy, tokenizer and definitions included.

    reference.py MODEL TEXT [--lines N] [--limit N] [--context N] [--bits B] [--group G]

prints, for the first N lines of TEXT, what both definitions of perplexity give. golden.hpp holds its output on the
shipped checkpoint; it shares no code with the program.
"""
import argparse
import heapq
import json
import os
import struct

import numpy as np


def fields(message):
    """(number, value) of each field of a protobuf message."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 2:
            size = varint()
            yield key >> 3, message[at:at + size]
            at += size
        else:
            size = {1: 8, 5: 4}[key & 7]
            yield key >> 3, message[at:at + size]
            at += size


class Tokenizer:
    def __init__(self, path):
        self.ids, self.scores, self.bytes, self.squeeze, count = {}, {}, {}, True, 0
        for number, value in fields(open(path, "rb").read()):
            if number == 1:
                piece = dict(fields(value))
                text, kind = piece[1].decode(), piece.get(3, 1)
                if kind == 1:
                    self.ids[text] = count
                    self.scores[text] = struct.unpack("<f", piece[2])[0]
                elif kind == 6:
                    self.bytes[int(text[3:5], 16)] = count
                count += 1
            elif number == 3:
                self.squeeze = dict(fields(value)).get(4, 1) != 0

    def encode(self, text):
        if self.squeeze:
            text = text.strip(" ")
            while "  " in text:
                text = text.replace("  ", " ")
        if not text:
            return []
        symbols = list("\u2581" + text.replace(" ", "\u2581"))
        left = list(range(-1, len(symbols) - 1))
        right = list(range(1, len(symbols) + 1))
        heap = []

        def propose(i):
            if i >= 0 and right[i] < len(symbols):
                pair = symbols[i] + symbols[right[i]]
                if pair in self.scores:
                    heapq.heappush(heap, (-self.scores[pair], i, pair))

        for i in range(len(symbols)):
            propose(i)
        while heap:
            _, i, pair = heapq.heappop(heap)
            if symbols[i] is None or right[i] >= len(symbols) or symbols[i] + symbols[right[i]] != pair:
                continue
            gone = right[i]
            symbols[i], symbols[gone], right[i] = pair, None, right[gone]
            if right[i] < len(symbols):
                left[right[i]] = i
            propose(left[i])
            propose(i)
        ids = []
        for symbol in symbols:
            if symbol is None:
                continue
            ids += [self.ids[symbol]] if symbol in self.ids else [self.bytes[b] for b in symbol.encode()]
        return ids


def load_tensors(path):
    data = open(path, "rb").read()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__", None)
    return {name: np.frombuffer(data, "<f4", offset=8 + size + entry["data_offsets"][0],
                                count=int(np.prod(entry["shape"]))).reshape(entry["shape"]).copy()
            for name, entry in header.items()}


def round_to_nearest(w, bits, group):
    """In float32, as the study computes it."""
    top = np.float32(2 ** (bits - 1) - 1)
    rows, columns = w.shape
    padded = np.zeros((rows, -(-columns // group) * group), np.float32)
    padded[:, :columns] = w
    groups = padded.reshape(rows, -1, group)
    scale = np.maximum(np.abs(groups).max(-1, keepdims=True) / top, np.float32(1e-8))
    return (np.clip(np.rint(groups / scale), -top - 1, top) * scale).reshape(rows, -1)[:, :columns]


class Model:
    def __init__(self, folder, bits, group):
        self.c = json.load(open(os.path.join(folder, "config.json")))
        self.w = load_tensors(os.path.join(folder, "model.safetensors"))
        for name in self.w:
            if bits and name.endswith("_proj.weight"):
                self.w[name] = round_to_nearest(self.w[name], bits, group)
        self.w = {name: w.astype(np.float64) for name, w in self.w.items()}

    def norm(self, x, name):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + self.c["rms_norm_eps"]) * self.w[name]

    def nll(self, tokens):
        """Sum over the tokens after the first."""
        c, w = self.c, self.w
        heads, kv_heads = c["num_attention_heads"], c["num_key_value_heads"]
        dim, length = c["hidden_size"] // heads, len(tokens)
        angle = np.arange(length)[:, None] * c["rope_theta"] ** (-np.arange(0, dim, 2) / dim)[None]
        cosine, sine = np.cos(angle)[:, None], np.sin(angle)[:, None]

        def rotate(x):
            a, b = x[..., :dim // 2], x[..., dim // 2:]
            return np.concatenate([a * cosine - b * sine, b * cosine + a * sine], -1)

        x = w["model.embed_tokens.weight"][tokens]
        for layer in range(c["num_hidden_layers"]):
            p = f"model.layers.{layer}."
            h = self.norm(x, p + "input_layernorm.weight")
            q, k, v = ((h @ w[f"{p}self_attn.{n}_proj.weight"].T).reshape(length, -1, dim) for n in "qkv")
            q, k = rotate(q), rotate(k)
            out = np.empty_like(q)
            for head in range(heads):
                kv = head // (heads // kv_heads)
                s = q[:, head] @ k[:, kv].T / np.sqrt(dim)
                s[np.triu_indices(length, 1)] = -np.inf
                e = np.exp(s - s.max(-1, keepdims=True))
                out[:, head] = e / e.sum(-1, keepdims=True) @ v[:, kv]
            x = x + out.reshape(length, -1) @ w[p + "self_attn.o_proj.weight"].T
            h = self.norm(x, p + "post_attention_layernorm.weight")
            gate = h @ w[p + "mlp.gate_proj.weight"].T
            x = x + (gate / (1 + np.exp(-gate)) * (h @ w[p + "mlp.up_proj.weight"].T)) @ w[p + "mlp.down_proj.weight"].T
        logits = self.norm(x, "model.norm.weight") @ w.get("lm_head.weight", w["model.embed_tokens.weight"]).T
        top = logits.max(-1, keepdims=True)
        logsum = (top + np.log(np.exp(logits - top).sum(-1, keepdims=True)))[:, 0]
        return float((logsum[:-1] - logits[np.arange(length - 1), tokens[1:]]).sum())


def study_windows(tokenizer, rows, context):
    windows = []
    for start in range(0, len(rows), 1000):
        tokens = [t for row in rows[start:start + 1000] for t in [1] + tokenizer.encode(row)]
        windows += [tokens[i:i + context] for i in range(0, len(tokens) - context + 1, context)]
    return windows, len(windows) * context


def gptq_windows(tokenizer, rows, context):
    tokens = [1] + tokenizer.encode("\n\n".join(rows))
    return [tokens[i:i + context] for i in range(0, len(tokens) - context + 1, context)], len(tokens)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("text")
    parser.add_argument("--lines", type=int)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--context", type=int, default=512)
    parser.add_argument("--bits", type=int, default=0)
    parser.add_argument("--group", type=int, default=128)
    args = parser.parse_args()
    with open(args.text, encoding="utf-8", newline="\n") as file:
        lines = file.readlines()
    rows = ["" if not line.strip() else line for line in lines[:args.lines]]
    tokenizer, model = Tokenizer(os.path.join(args.model, "tokenizer.model")), Model(args.model, args.bits, args.group)
    for name, cut in (("study", study_windows), ("gptq", gptq_windows)):
        windows, tokens = cut(tokenizer, rows, args.context)
        windows = windows[:args.limit]
        nll = sum(model.nll(np.array(window)) for window in windows)
        predicted = len(windows) * (args.context - 1)
        print(json.dumps({"definition": name, "tokens": tokens, "windows": len(windows), "predicted": predicted,
                          "nll_sum": nll, "perplexity": float(np.exp(nll / predicted))}))


if __name__ == "__main__":
    main()
