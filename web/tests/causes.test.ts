// The diagnosis of the workspace: every state has its own cause, and none is a guess.

import { describe, expect, it } from 'vitest';

import { classify } from '../src/workspace/causes';
import { ANSWERED, BEGAN, ELSEWHERE, PORT_ANSWERS, refused, ROWS, SILENCE, world } from './causes_table';

describe.each([
  ['the port answers, but refuses this page', PORT_ANSWERS],
  ['nothing is reachable', SILENCE],
  ['the device or its engine tells the reason', ANSWERED],
  ['the answer began but did not end', BEGAN],
  ['another device answered', ELSEWHERE],
])('%s', (_, table) => {
  it.each(table)('%s', (_what, facts, code, actions) => {
    const cause = classify(facts);
    expect([cause.code, cause.actions]).toEqual([code, actions]);
    const words = JSON.stringify(cause);
    expect(words).not.toMatch(/document too large|undefined|null|NaN/i);
    for (const part of [cause.title, cause.detail, cause.remedy]) expect(part.length).toBeGreaterThan(10);
  });
});

it('says no size that would fit', () => {
  expect(classify(refused(413, { code: 'payload-too-large', size: 100 })).detail).toBe('A request may have at most 33\u00a0MB.');
});

it('says the same words as before', () => {
  const said = ROWS.map(([what, facts]) => {
    const { title, detail, remedy } = classify(facts);
    return `${what}\n  ${title}\n  ${detail}\n  ${remedy}`;
  });
  expect(said.join('\n')).toMatchSnapshot();
});

it('names the origin that is missing', () => {
  expect(classify(world()).detail).toBe(
    "This model was deployed with an allowlist that lacks this workspace's origin (https://workspace.example). " +
      "The browser's cross-origin preflight was refused.",
  );
});
