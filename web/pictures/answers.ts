// A model that answers at a steady rate, with answers of several shapes, and what such an answer takes of the page.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Browser } from 'playwright-core';

import { opened, shareOf, taken, watchTasks, type Taken } from './page_cost.ts';
import type { Fake } from './server.ts';
import { noise, worldOf, type World } from './world.ts';

/** How many tokens the model writes in a second. */
const RATE = 200;

export const SHAPES = ['mixed', 'paragraph', 'code', 'list', 'table'] as const;
export type Shape = (typeof SHAPES)[number];

const WORDS = 'the device that asks gives one token after another while model **bold** weights `code` stay in memory of *every* page'.split(' ');
const word = (at: number): string => `${WORDS[Math.floor(noise(at) * WORDS.length)] ?? 'word'} `;

/** Returns the tokens of an answer. */
export function tokensOf(shape: Shape, count: number): string[] {
  const tokens: string[] = [];
  for (let at = 0; tokens.length < count; at += 1) tokens.push(...PARTS[shape](at));
  return tokens.slice(0, count);
}

const sentence = (at: number, length: number): string[] => Array.from({ length }, (_, nth) => word(at * 97 + nth));
const line = (at: number): string[] => ['    let ', `value_${at} `, '= ', 'compute', '(', `${at}`, ', ', '"text"', ')', ';\n'];

const PARTS: Record<Shape, (at: number) => string[]> = {
  mixed: (at) => {
    switch (at % 6) {
      case 0: return ['## ', 'Part ', `${at}`, '\n\n'];
      case 1: return [...sentence(at, 60), '\n\n'];
      case 2: return [...Array.from({ length: 6 }, (_, item) => ['- ', ...sentence(at + item, 12), '\n']).flat(), '\n'];
      case 3: return ['```', 'rust\n', ...Array.from({ length: 12 }, (_, nth) => line(at + nth)).flat(), '```', '\n\n'];
      case 4: return [...sentence(at, 40), 'see ', '[the ', 'page](', 'https://example.com/', `${at}`, ')', '.\n\n'];
      default: return ['| a ', '| b |\n', '|---|---|\n', ...Array.from({ length: 6 }, (_, nth) => ['| ', ...sentence(at + nth, 4), '| ', ...sentence(at - nth, 4), '|\n']).flat(), '\n'];
    }
  },
  paragraph: (at) => sentence(at, 10),
  code: (at) => (at === 0 ? ['```', 'rust\n'] : line(at)),
  list: (at) => ['- ', ...sentence(at, 12), '\n'],
  table: (at) => (at === 0 ? ['| a ', '| b |\n', '|---|---|\n'] : ['| ', ...sentence(at, 5), '| ', ...sentence(at + 1, 5), '|\n']),
};

export interface Talker {
  port: number;
  tokens: readonly string[];
  /** How many tokens were written. */
  written: number;
  close: () => void;
}

/** Begins a model that answers every question with its tokens. */
export async function talk(): Promise<Talker> {
  const talker: Talker = { port: 0, tokens: [], written: 0, close: () => undefined };
  const server: Server = createServer((request, response) => {
    const headers = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*', 'access-control-allow-private-network': 'true' };
    if (request.method === 'OPTIONS') {
      response.writeHead(204, headers).end();
      return;
    }
    response.writeHead(200, { ...headers, 'content-type': 'text/event-stream' });
    const began = performance.now();
    talker.written = 0;
    const timer = setInterval(() => {
      const due = Math.min(talker.tokens.length, Math.floor(((performance.now() - began) * RATE) / 1_000));
      for (; talker.written < due; talker.written += 1) {
        const choices = [{ finish_reason: null, index: 0, delta: { content: talker.tokens[talker.written] } }];
        response.write(`data: ${JSON.stringify({ choices, created: 1_763_647_500, id: 'chatcmpl-Xk2b8qOcuB4uOYkq0ZC3', model: 'm', object: 'chat.completion.chunk' })}\n\n`);
      }
      if (due < talker.tokens.length) return;
      clearInterval(timer);
      response.end(`data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 9, completion_tokens: due } })}\n\ndata: [DONE]\n\n`);
    }, 5);
    response.on('close', () => clearInterval(timer));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  talker.port = (server.address() as AddressInfo).port;
  talker.close = () => {
    server.close();
    server.closeAllConnections();
  };
  return talker;
}

/** An account with one model, which listens on a port. */
export function worldOfTalker(port: number): World {
  const world = worldOf('one');
  const serving = { state: 'serving', is_serving: true, port } as const;
  return { ...world, deployments: world.deployments.map((one) => ({ ...one, state: 'completed' as const, port, serving })) };
}

export interface Answered {
  /** What each tenth of the answer took of the main thread, from 0 to 1. */
  shares: Taken[];
  longest: number;
  /** The time from the last token until the page has the end, in milliseconds. */
  after: number;
}

/** Asks on the workspace, and measures until the answer is whole. */
export async function answerCost(browser: Browser, fake: Fake, talker: Talker, slowed: number): Promise<Answered> {
  const { page, protocol } = await opened(browser, fake.origin, slowed);
  await page.goto(`${fake.origin}/workspace`);
  await page.locator('#message').fill('Tell me everything.');
  const tasks = await watchTasks(browser, page);
  await page.locator('#message').press('Enter');
  await page.locator('.answered').waitFor();
  const shares: Taken[] = [];
  let before = await taken(protocol);
  for (let part = 1; part <= 10; part += 1) {
    while (talker.written < (talker.tokens.length * part) / 10) await page.waitForTimeout(50);
    const now = await taken(protocol);
    shares.push(shareOf(before, now));
    before = now;
  }
  const began = performance.now();
  await page.locator('.answered .turn-actions').waitFor({ timeout: 60_000 });
  const after = performance.now() - began;
  const longest = await tasks();
  await page.context().close();
  return { shares, longest, after };
}
