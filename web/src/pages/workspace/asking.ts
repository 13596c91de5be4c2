// Asks the chosen model and follows the answer.

import { signal } from '@preact/signals';

import { ofPerson, staying } from '../../data/person';
import { text } from '../../text';
import { complete } from '../../workspace/chat';
import { fresh, messagesOf, newId, type Conversation, type Figures, type Turn } from '../../workspace/conversations';
import { readable, Sentences } from '../../workspace/plain';
import { RequestFailure, type Pieces, type Usage } from '../../workspace/stream';
import type { Target } from '../../workspace/targets';
import { turnTo } from './address';
import { clear, explain, remedy } from './failures';
import { awaited, revise, settle } from './keeping';
import { choose, conversation, target } from './state';

/** The answer that is under way. Its text grows outside of the signals: a component reads it once a frame. */
export class Running {
  text = '';
  thought = '';
  /** Milliseconds of the clock. */
  readonly began = performance.now();
  first: number | null = null;
  readonly stopper = new AbortController();
  readonly heard = signal<'nothing' | 'thought' | 'text'>('nothing');
  onText: (piece: string) => void = () => undefined;
  onThought: (piece: string) => void = () => undefined;

  constructor(
    readonly conversationId: string,
    readonly turn: string,
  ) {}

  hear({ text: words, thought }: Pieces): void {
    if (words === '' && thought === '') return;
    this.first ??= performance.now();
    if (thought !== '') {
      this.thought += thought;
      this.onThought(thought);
    }
    if (words !== '') {
      this.text += words;
      this.onText(words);
    }
    const heard = this.text !== '' ? 'text' : 'thought';
    if (this.heard.peek() !== heard) this.heard.value = heard;
  }

  figures(usage: Usage | null): Figures {
    const seconds = (performance.now() - this.began) / 1000;
    return {
      promptTokens: usage?.prompt_tokens ?? null,
      tokens: usage?.completion_tokens ?? null,
      first: this.first === null ? null : (this.first - this.began) / 1000,
      seconds,
    };
  }
}

export const running = signal<Running | null>(null);
/** What a screen reader is told: whole sentences, and the end. Each is a part of its own, so that none hides another one. */
export const spoken = signal<readonly { number: number; words: string }[]>([]);
/** How many of them stay in the document. */
const MOST_SPOKEN = 20;

function say(words: string): void {
  const before = spoken.peek();
  spoken.value = [...before, { number: (before.at(-1)?.number ?? 0) + 1, words: readable(words) }].slice(-MOST_SPOKEN);
}

ofPerson(() => {
  stop();
  running.value = null;
  spoken.value = [];
});

/** Asks a question in the current conversation. A question that failed is replaced. */
export function ask(question: string): void {
  begin(question, conversation.peek().turns.filter(({ answer }) => answer !== ''));
}

/** Asks the question of a turn again, changed or not. What came after the turn is given up. Returns whether it is asked. */
export function askAgain(id: string, question: string): boolean {
  const { turns } = conversation.peek();
  const place = turns.findIndex((turn) => turn.id === id);
  return place !== -1 && begin(question, turns.slice(0, place));
}

function begin(question: string, before: readonly Turn[]): boolean {
  const chosen = target.peek();
  if (!chosen || chosen.absent !== null || running.peek() || remedy.peek().busy) return false;
  const turn: Turn = { id: newId(), question, answer: '', thought: '', figures: null, model: chosen.name, state: 'asked' };
  // The model of a conversation does not change because another one is served.
  choose(chosen.id);
  settle({ ...conversation.peek(), turns: [...before, turn] });
  void run(chosen, turn);
  return true;
}

export function stop(): void {
  running.peek()?.stopper.abort();
}

/** Shows another conversation. An answer that is under way is stopped and kept as far as it came. */
export function show(next: Conversation = fresh(Date.now())): void {
  stop();
  clear();
  awaited.clear();
  turnTo(next);
}

/** Follows the answer to a question of the conversation that is shown. Other tabs may have added others, or have taken it out. */
async function run(chosen: Target, turn: Turn): Promise<void> {
  const there = conversation.peek();
  if (!there.turns.some(({ id }) => id === turn.id)) settle({ ...there, turns: [...there.turns, turn] });
  const shown = conversation.peek();
  const started = { ...shown, turns: shown.turns.slice(0, shown.turns.findIndex(({ id }) => id === turn.id) + 1) };
  awaited.clear();
  awaited.add(turn.id);
  const here = staying();
  const answer = new Running(started.id, turn.id);
  const sentences = new Sentences();
  clear();
  spoken.value = [];
  running.value = answer;
  const ended = (state: Turn['state'], usage: Usage | null): void => {
    running.value = null;
    const figures = answer.figures(usage);
    const { text: words, thought } = answer;
    awaited.delete(turn.id);
    replaceTurn(shown, { ...turn, model: chosen.name, answer: words, thought, figures, state });
  };
  const heard = (pieces: Pieces): void => {
    here.throwIfAborted();
    answer.hear(pieces);
    const whole = sentences.push(pieces.text);
    if (whole !== '') say(whole);
  };
  try {
    const { signal: stopped } = answer.stopper;
    const question = { at: chosen, model: chosen.alias, messages: messagesOf(started), sampling: started.sampling, signal: stopped, heard };
    const { usage, isCut } = await complete(question);
    here.throwIfAborted();
    ended(isCut ? 'cut' : 'complete', usage);
    say(`${sentences.end()} ${isCut ? text.workspace.notes.cut : text.workspace.finished}`.trim());
  } catch (error) {
    // Nothing of the answer is for whoever comes next.
    if (here.aborted) return;
    if (!(error instanceof RequestFailure)) {
      ended('incomplete', null);
      throw error;
    }
    if (error.request.kind === 'stopped') {
      ended('stopped', null);
      say(text.workspace.notes.stopped);
      return;
    }
    ended(answer.text === '' ? 'asked' : 'incomplete', null);
    if (conversation.peek().id === started.id) await explain(chosen, error.request, (now) => run(now, turn));
  }
}

/** Keeps a turn in its conversation, also if another one is shown by now. */
function replaceTurn(known: Conversation, done: Turn): void {
  revise(known, ({ turns, ...latest }) => {
    const place = turns.findIndex(({ id }) => id === done.id);
    return { ...latest, turns: place === -1 ? [...turns, done] : turns.with(place, done) };
  });
}
