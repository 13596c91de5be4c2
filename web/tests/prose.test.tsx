// Sentences with commands in them.

import { describe, expect, it } from 'vitest';

import { Prose, Said } from '../src/ui/prose';
import { blank, show } from './page';

describe('a sentence', () => {
  const shown = (words: string): string => {
    const root = blank('viewer');
    show(root, <Prose words={words} />);
    return root.innerHTML;
  };

  it('has its commands as code', () => {
    expect(shown('run `link status`, then `link start`')).toContain('run <code>link status</code>, then <code>link start</code>');
  });

  it('keeps a backtick that has no other', () => {
    expect(shown("cannot open `model.gguf': no such file")).toContain("cannot open `model.gguf': no such file");
    expect(shown('run `link status` and `')).toContain('run <code>link status</code> and `');
    expect(shown('``')).toContain('``');
  });

  it('of a device is a sentence, without backticks where the pointer rests', () => {
    const root = blank('viewer');
    show(root, <Said words="the port is taken: run `link status`" />);
    expect(root.querySelector('bdi')?.title).toBe('The port is taken: run link status.');
    expect(root.querySelector('bdi')?.innerHTML).toBe('The port is taken: run <code>link status</code>.');
    show(root, <Said words="" />);
    expect(root.querySelector('bdi')).toBeNull();
  });
});
