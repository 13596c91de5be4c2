// The files of the conversations in this browser: all as JSON, the one that is shown as Markdown.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { forgetAll, kept, settle } from '../src/pages/workspace/keeping';
import { History } from '../src/pages/workspace/history';
import { conversation } from '../src/pages/workspace/state';
import { fresh, type Conversation, type Turn } from '../src/workspace/conversations';
import { HOSTILE } from './fixtures';
import { accessible, control, controls, place, press, settled, type } from './placed';
import { savedFiles } from './saved_files';

const here = place();
const saved = savedFiles();

const turn = (id: string, question: string, answer: string): Turn => ({
  id, question, answer, thought: `Thought of ${id}.`, figures: { promptTokens: 3, tokens: 5, first: 0.1, seconds: 1 }, model: 'llama', state: 'complete',
});
const talk = (id: string, title: string, ...turns: Turn[]): Conversation => ({
  ...fresh(Date.UTC(2026, 10, 20)), id, title, system: 'Be brief.', turns,
});

const BOILING = talk('one', 'How to boil an egg?', turn('a', 'How to boil an egg?', 'In **water**.'), turn('b', 'For how long?', '7 minutes.'));
const COLOUR = talk('two', 'A colour', turn('c', 'Name a colour.', 'Red.'));

/** Keeps conversations; the last one is shown. */
async function open(...all: Conversation[]): Promise<void> {
  for (const one of all) {
    conversation.value = one;
    settle(one);
  }
  here.show(<main><History /></main>);
  await control('Export all as JSON');
}

beforeEach(forgetAll);
afterEach(forgetAll);

describe('the export as JSON', () => {
  it('is a file with every conversation, whole, whatever is shown or searched for', async () => {
    await open(COLOUR, BOILING);
    await type('[type=search]', 'colour');
    await vi.waitFor(() => expect(here.root.querySelectorAll('.history-list li')).toHaveLength(1));
    await accessible();
    await press('Export all as JSON');
    const [file, ...others] = await saved();
    expect([file?.name, file?.type, others]).toEqual(['conversations.json', 'application/json', []]);
    const { schema, conversations } = JSON.parse(file?.words ?? '') as { schema: number; conversations: Conversation[] };
    expect(schema).toBe(1);
    const changed = expect.any(Number) as number;
    expect(conversations).toHaveLength(2);
    expect(conversations).toEqual(expect.arrayContaining([{ ...BOILING, changed }, { ...COLOUR, changed }]));
    expect(conversations).toEqual(kept.value);
  });

  it('has hostile text as it was written', async () => {
    await open(talk('three', 'Hostile', ...HOSTILE.map((words, at) => turn(String(at), words, words))));
    await press('Export all as JSON');
    const [file] = await saved();
    const { conversations } = JSON.parse(file?.words ?? '') as { conversations: Conversation[] };
    expect(conversations[0]?.turns.map(({ answer }) => answer)).toEqual(HOSTILE);
  });
});

describe('the export as Markdown', () => {
  it('is a file with the conversation that is shown, named after its title', async () => {
    await open(COLOUR, BOILING);
    await press('Export this one as Markdown');
    expect(await saved()).toEqual([{
      name: 'How-to-boil-an-egg.md',
      type: 'text/markdown',
      words: [
        '# How to boil an egg?', '_2026-11-20T00:00:00.000Z_', '## System prompt', 'Be brief.',
        '## You', 'How to boil an egg?', '## llama', 'In **water**.', '## You', 'For how long?', '## llama', '7 minutes.\n',
      ].join('\n\n'),
    }]);
  });

  it('follows the choice in the list', async () => {
    await open(COLOUR, BOILING);
    await press('A colour');
    await vi.waitFor(() => expect(here.root.querySelector('.here')?.textContent).toContain('A colour'));
    await press('Export this one as Markdown');
    const [file] = await saved();
    expect(file?.name).toBe('A-colour.md');
    expect(file?.words).toContain('Red.');
    expect(file?.words).not.toContain('water');
  });

  it('is not offered for a conversation in which nothing was asked', async () => {
    await open(COLOUR);
    await control('Export this one as Markdown');
    await press('New conversation');
    await vi.waitFor(() => expect(controls()).not.toContain('Export this one as Markdown'));
    expect(controls()).toContain('Export all as JSON');
  });
});

it('offers no file before there is a conversation', async () => {
  here.show(<main><History /></main>);
  await settled('No conversation yet.');
  expect(controls().filter((words) => words.startsWith('Export'))).toEqual([]);
});
