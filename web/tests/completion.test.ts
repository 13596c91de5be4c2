// What a stream of a completion says, in any cut, and what ends it too early.

import { readFileSync } from 'node:fs';

import { expect, it } from 'vitest';

import { asMarkdown, fileName, fresh, mentions, messagesOf, speedOf, titleOf, type Turn } from '../src/workspace/conversations';
import { outcomeOf, timecode } from '../src/workspace/files';
import { doubtfulPorts } from '../src/workspace/here';
import { CompletionReader, refusal, RequestFailure } from '../src/workspace/stream';
import { targetsOf } from '../src/workspace/targets';
import { deployment, device } from './fixtures';

const event = (document: unknown): string => `data: ${JSON.stringify(document)}\n\n`;
const STREAM =
  event({ choices: [{ delta: { reasoning_content: 'hm' } }] }) +
  event({ choices: [{ delta: { content: 'Hel' } }] }) +
  event({ choices: [{ delta: { content: 'lo' } }] }) +
  event({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } });

function read(pieces: readonly string[]): { text: string; thought: string; reader: CompletionReader } {
  const reader = new CompletionReader();
  let [text, thought] = ['', ''];
  for (const piece of pieces) {
    const said = reader.push(piece);
    text += said.text;
    thought += said.thought;
  }
  reader.end();
  return { text, thought, reader };
}

const seenOf = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return error instanceof RequestFailure ? error.request : error;
  }
  return null;
};

it('reads text, reasoning and usage, however the stream is cut', () => {
  for (let size = 1; size < 50; size += 7) {
    const whole = `${STREAM}data: [DONE]`;
    const pieces = whole.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
    const { text, thought, reader } = read(pieces);
    expect([text, thought, reader.usage?.completion_tokens, reader.ended]).toEqual(['Hello', 'hm', 2, true]);
  }
});

it('tells an answer that a limit of tokens has cut off from one that is complete', () => {
  const ends = (reason: string | null): boolean => read([`${event({ choices: [{ delta: {}, finish_reason: reason }] })}${STREAM}data: [DONE]`]).reader.isCut;
  expect([ends('length'), ends('stop'), ends(null)]).toEqual([true, false, false]);
});

it('takes nothing after the end', () => {
  expect(read([`${STREAM}data: [DONE]\n\n${event({ choices: [{ delta: { content: 'more' } }] })}`]).text).toBe('Hello');
});

it('tells a cut, a garbled stream and an error of the engine', () => {
  expect(seenOf(() => read([event({ choices: [{ delta: { content: 'Hel' } }] })]))).toMatchObject({ kind: 'broken' });
  expect(seenOf(() => read(['data: {"choices\n\n']))).toMatchObject({ kind: 'broken' });
  const error = { type: 'server_error', message: 'decoding failed', n_prompt_tokens: 9, n_ctx: 8 };
  expect(seenOf(() => read([event({ error })]))).toEqual({
    kind: 'engine', engine: true, code: 'server_error', detail: 'decoding failed', tokens: 9, context: 8,
  });
});

it('reads the documents that the proxy of a device sends', () => {
  const golden = (name: string): string => readFileSync(`../agent/src/serving/proxy/golden/${name}.json`, 'utf8');
  const refused = refusal(403, null, golden('origin-not-allowed'));
  expect(refused).toMatchObject({ code: 'origin-not-allowed', detail: 'the allowlist of `tiny` does not name this page' });
  expect(refused.hint).toContain('link repair-serving');
  expect(refused.engine).toBeUndefined();
  expect(refusal(404, null, golden('model-not-served'))).toMatchObject({ code: 'model-not-served', hint: null });
});

it('reads a refusal of the device, of the engine, and of neither', () => {
  const problem = JSON.stringify({ code: 'model-not-served', detail: 'not served', hint: null });
  expect(refusal(404, null, problem)).toEqual({ kind: 'refused', status: 404, retryAfter: null, code: 'model-not-served', detail: 'not served', hint: null });
  expect(refusal(400, 2, '{"error":"bad"}')).toMatchObject({ kind: 'refused', engine: true, detail: 'bad', status: 400, retryAfter: 2 });
  expect(refusal(502, null, '<html>')).toMatchObject({ kind: 'refused', status: 502, detail: null });
});

const turn = (question: string, answer: string): Turn => ({
  id: question, question, answer, thought: '', figures: null, model: 'tiny', state: 'complete',
});

it('tells the model the system prompt and every answered question', () => {
  const conversation = { ...fresh(0), system: 'Be brief.', turns: [turn('a', 'A'), turn('lost', ''), turn('b', 'old')] };
  expect(messagesOf(conversation)).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'A' },
    { role: 'user', content: 'b' },
  ]);
});

it('names, finds and exports a conversation', () => {
  expect(titleOf(`${'👩'.repeat(100)}\nmore`)).toBe(`${'👩'.repeat(59)}…`);
  const conversation = { ...fresh(0), title: 'Cats', turns: [turn('Which?', 'A *tabby*.')] };
  expect([mentions(conversation, 'TABBY'), mentions(conversation, ' '), mentions(conversation, 'dog')]).toEqual([true, true, false]);
  expect(asMarkdown(conversation)).toBe('# Cats\n\n_1970-01-01T00:00:00.000Z_\n\n## You\n\nWhich?\n\n## tiny\n\nA *tabby*.\n');
  expect([fileName('../../etc', 'md'), fileName('Ünïx?', 'md'), fileName('', 'md')]).toEqual(['etc.md', 'U-ni-x.md', 'conversation.md']);
});

it('counts the speed from the first token on', () => {
  expect(speedOf({ promptTokens: 1, tokens: 21, first: 1, seconds: 3 })).toBe(10);
  expect(speedOf({ promptTokens: 1, tokens: 1, first: 1, seconds: 3 })).toBeNull();
  expect(speedOf({ promptTokens: 1, tokens: null, first: null, seconds: 3 })).toBeNull();
  expect(speedOf({ promptTokens: 1, tokens: 96, first: 0.2, seconds: 0.201 })).toBeNull();
});

it('reads the answers of models that transcribe and classify, and survives others', () => {
  expect(outcomeOf('transcribe', { text: ' Hi. ', duration: 1.5, segments: [{ start: 0, end: 1.5, text: ' Hi.' }] })).toEqual({
    kind: 'transcript', words: 'Hi.', seconds: 1.5, segments: [{ start: 0, end: 1.5, words: 'Hi.' }],
  });
  expect(outcomeOf('images', { data: [{ label: '90', index: 1, score: 0.9 }] })).toEqual({ kind: 'image', labels: [{ label: '90', score: 0.9 }] });
  const sound = { data: [{ label: 'speech', start: 1, end: 2, score: 0.97 }], summary: [{ label: 'speech', seconds: 1, share: 0.5 }], duration: 2 };
  expect(outcomeOf('sounds', sound)).toEqual({
    kind: 'sound', seconds: 2, shares: [{ label: 'speech', score: 0.5 }], segments: [{ label: 'speech', score: 0.97, start: 1, end: 2 }],
  });
  for (const answer of [null, 3, [], { data: 'x', text: 4 }, { data: [null, 1] }]) {
    for (const task of ['transcribe', 'images', 'sounds'] as const) expect(() => outcomeOf(task, answer)).not.toThrow();
  }
  expect([0, 65.24, 3_725].map(timecode)).toEqual(['0:00.0', '1:05.2', '1:02:05.0']);
});

it('offers what is served first, and says why the rest cannot be asked', () => {
  const stopped = { serving: { state: 'not_serving' as const, is_serving: false, port: 8080 } };
  const found = targetsOf(
    [
      deployment('b', 'dev_a', stopped),
      deployment('a', 'dev_a'),
      deployment('c', 'dev_away'),
      deployment('d', 'dev_a', { state: 'failed', serving: null }),
      deployment('e', 'dev_a', { state: 'cancelled', serving: null }),
      deployment('f', 'dev_busy'),
      deployment('g', 'dev_a', { removed: true, serving: { state: 'removed', is_serving: false, port: 8080 } }),
      deployment('h', 'dev_gone'),
    ],
    () => undefined,
    (id) => device(id.slice(4), { online: id !== 'dev_away' && id !== 'dev_gone', status: id === 'dev_busy' || id === 'dev_gone' ? 'updating' : 'online' }),
  );
  expect(found.map(({ alias, absent }) => [alias, absent])).toEqual([
    ['model-a', null], ['model-b', 'stopped'], ['model-c', 'offline'], ['model-d', 'failed'], ['model-f', 'updating'], ['model-h', 'offline'],
  ]);
});

it('offers what is on this computer first, and a stale allowlist after the current ones', () => {
  const on8081 = { serving: { state: 'serving' as const, is_serving: true, port: 8081 } };
  const found = targetsOf(
    [deployment('a', 'dev_b', { stale: true, ...on8081 }), deployment('b', 'dev_a', { stale: true }), deployment('c', 'dev_b', on8081), deployment('d', 'dev_a'), deployment('e', 'dev_away')],
    () => undefined,
    (id) => device(id.slice(4), { online: id !== 'dev_away' }),
    new Map([[8080, 'dev_a']]),
  );
  expect(found.map(({ alias }) => alias)).toEqual(['model-d', 'model-b', 'model-c', 'model-a', 'model-e']);
});

it('offers no model of another device on a port on which a device answers', () => {
  const on8081 = { serving: { state: 'serving' as const, is_serving: true, port: 8081 } };
  const deployed = [deployment('a', 'dev_a'), deployment('a', 'dev_b'), deployment('c', 'dev_b', on8081), deployment('d', 'dev_away')];
  const among = (answering: ReadonlyMap<number, string>): unknown[] => {
    const found = targetsOf(deployed, () => undefined, (id) => device(id.slice(4), { online: id !== 'dev_away' }), answering);
    return found.map(({ alias, deviceId, absent }) => [alias, deviceId, absent]);
  };
  expect(among(new Map([[8080, 'dev_b']]))).toEqual([
    ['model-a', 'dev_b', null], ['model-c', 'dev_b', null], ['model-a', 'dev_a', 'elsewhere'], ['model-d', 'dev_away', 'offline'],
  ]);
  const all = targetsOf(deployed, () => undefined, (id) => device(id.slice(4)), new Map());
  expect(all.map(({ absent }) => absent)).toEqual([null, null, null, null]);
  expect(doubtfulPorts(all)).toEqual([8080]);
});
