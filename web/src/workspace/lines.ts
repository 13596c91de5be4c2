// Requests to a model as lines for a terminal: what a model takes that is for no conversation. Pure.

import type { Shell } from '../data/system';
import type { Task } from '../data/types';

/** The tasks without a page of their own in the workspace. */
export type Other = Exclude<Task, 'chat'>;

export const PATHS: Readonly<Record<Other, string>> = { embeddings: '/v1/embeddings', rerank: '/v1/rerank' };

/** Tells whether a task has no page of its own. */
export function isOther(task: string): task is Other {
  return Object.hasOwn(PATHS, task);
}

/** Returns the line that asks a model on this computer. `words` are what it is asked about. */
export function requestLine(task: Other, shell: Shell, port: number, model: string, words: readonly string[]): string {
  const [first = '', ...others] = words;
  const body = JSON.stringify(task === 'embeddings' ? { model, input: first } : { model, query: first, documents: others });
  const address = `http://127.0.0.1:${port}${PATHS[task]}`;
  if (shell === 'sh') return `curl ${address} -H 'content-type: application/json' -d ${quoted(body, "'\\''")}`;
  return `Invoke-RestMethod ${address} -Method Post -ContentType 'application/json' -Body ${quoted(body, "''")} | ConvertTo-Json -Depth 5`;
}

/** Puts a text in single quotes. Everything but ASCII is escaped as JSON has it: a console may use another encoding. */
function quoted(json: string, quote: string): string {
  const plain = json.replace(/[^\x20-\x7e]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `'${plain.replaceAll("'", quote)}'`;
}
