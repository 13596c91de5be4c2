// The checksum that comes in pieces is that of Node, wherever the pieces end.

import { createHash } from 'node:crypto';

import { expect, it } from 'vitest';

import { Sha256 } from '../src/data/sha256';
import { numbers } from './fixtures';

const hexOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

it('knows the checksums of the standard', () => {
  const of = (words: string): string => {
    const hash = new Sha256();
    hash.update(new TextEncoder().encode(words));
    return hash.hex();
  };
  expect(of('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  expect(of('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});

it('agrees with Node on every length around a block, in pieces of any size', () => {
  const random = numbers(7);
  for (let length = 0; length < 400; length += 1) {
    const bytes = Uint8Array.from({ length }, () => Math.floor(random() * 256));
    const hash = new Sha256();
    for (let at = 0; at < length; ) {
      const next = at + 1 + Math.floor(random() * 100);
      hash.update(bytes.subarray(at, next));
      at = next;
    }
    expect(hash.hex()).toBe(hexOf(bytes));
  }
});

it('agrees with Node on several megabytes', () => {
  const bytes = new Uint8Array(5_000_001).map((_, index) => (index * 31 + (index >>> 8)) & 255);
  const hash = new Sha256();
  for (let at = 0; at < bytes.length; at += 524_288) hash.update(bytes.subarray(at, at + 524_288));
  expect(hash.hex()).toBe(hexOf(bytes));
});
