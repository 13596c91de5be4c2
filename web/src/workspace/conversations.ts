// A conversation: what was asked and answered, with which settings. Pure; `storage.ts` keeps conversations in this browser.

import type { Message, Sampling } from './chat';

export interface Turn {
  id: string;
  question: string;
  answer: string;
  thought: string;
  /** What the answer took, as far as it is known. */
  figures: Figures | null;
  /** Whose answer it is. */
  model: string;
  /** `cut`: a limit of tokens has ended the answer. `incomplete`: it broke off. */
  state: 'asked' | 'complete' | 'cut' | 'stopped' | 'incomplete';
}

export interface Figures {
  promptTokens: number | null;
  tokens: number | null;
  /** Seconds until the first piece of the answer, and until its end. */
  first: number | null;
  seconds: number;
}

export interface Conversation {
  id: string;
  title: string;
  created: number;
  changed: number;
  system: string;
  sampling: Sampling;
  turns: Turn[];
}

/** How many conversations this browser keeps: the oldest make room. */
export const MOST_KEPT = 500;

const TITLE = 60;

export function fresh(now: number): Conversation {
  const sampling = { temperature: null, top_p: null, max_tokens: null };
  return { id: newId(), title: '', created: now, changed: now, system: '', sampling, turns: [] };
}

export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Returns the title that a first question gives. */
export function titleOf(question: string): string {
  const line = question.trim().split('\n', 1)[0] ?? '';
  const signs = [...line];
  return signs.length > TITLE ? `${signs.slice(0, TITLE - 1).join('')}…` : line;
}

/** Returns what the model is told for the last turn: a turn without an answer is only asked again by its own button. */
export function messagesOf({ system, turns }: Conversation): Message[] {
  const messages: Message[] = system.trim() === '' ? [] : [{ role: 'system', content: system }];
  turns.forEach(({ question, answer }, index) => {
    const last = index === turns.length - 1;
    if (!last && answer === '') return;
    messages.push({ role: 'user', content: question });
    if (!last) messages.push({ role: 'assistant', content: answer });
  });
  return messages;
}

/** Returns the tokens of an answer in a second, once it has begun. An answer that arrives in one piece has no speed. */
export function speedOf({ tokens, first, seconds }: Figures): number | null {
  const taken = seconds - (first ?? 0);
  return tokens !== null && tokens > 1 && taken >= 0.05 ? (tokens - 1) / taken : null;
}

/** Tells whether a conversation has the words. */
export function mentions({ title, turns }: Conversation, words: string): boolean {
  const wanted = words.trim().toLowerCase();
  if (wanted === '' || title.toLowerCase().includes(wanted)) return true;
  return turns.some(({ question, answer }) => `${question}\n${answer}`.toLowerCase().includes(wanted));
}

/** Returns conversations as a document that programs read. */
export function asJson(conversations: readonly Conversation[]): string {
  return `${JSON.stringify({ schema: 1, conversations }, null, 2)}\n`;
}

/** Returns a conversation as a document that people read. */
export function asMarkdown({ title, system, turns, created }: Conversation): string {
  const parts = [`# ${title}`, `_${new Date(created).toISOString()}_`];
  if (system.trim() !== '') parts.push('## System prompt', system);
  for (const { question, answer, model } of turns) {
    parts.push('## You', question);
    if (answer !== '') parts.push(`## ${model}`, answer);
  }
  return `${parts.join('\n\n')}\n`;
}

/** Returns a name for a file, of letters that every system takes. */
export function fileName(title: string, end: string): string {
  const words = title.normalize('NFKD').replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-+|-+$/g, '').slice(0, 40);
  return `${words === '' ? 'conversation' : words}.${end}`;
}
