// Short notices at the edge of the page, spoken by screen readers. A bad one stays until it is closed.

import { signal } from '@preact/signals';

import { ofPerson, PersonLeft } from '../data/person';
import { wordsOf } from '../data/problem';
import { text } from '../text';
import { Icon } from './icon';
import { Prose } from './prose';

type Tone = 'good' | 'bad';
interface Notice {
  number: number;
  words: string;
  tone: Tone;
}

/** How long a good notice stays, in milliseconds. */
const STAY = 6_000;
const MOST = 4;

const shown = signal<readonly Notice[]>([]);
ofPerson(() => (shown.value = []));
let count = 0;

/** Shows a notice. */
export function notice(words: string, tone: Tone = 'good'): void {
  const number = (count += 1);
  shown.value = [...shown.value, { number, words, tone }].slice(-MOST);
  if (tone === 'good') setTimeout(() => dismiss(number), STAY);
}

/** Shows why something failed. Nobody waits for what a person has left. */
export function failure(error: unknown): void {
  if (error instanceof PersonLeft) return;
  notice(wordsOf(error), 'bad');
}

function dismiss(number: number): void {
  shown.value = shown.value.filter((one) => one.number !== number);
}

export function Notices() {
  return (
    <section class="notices" aria-label={text.shell.notices} role="status" aria-live="polite">
      {shown.value.map(({ number, words, tone }) => (
        <div key={number} class={`notice ${tone}`}>
          <p dir="auto">
            <Prose words={words} />
          </p>
          <button type="button" class="icon-button" aria-label={text.shell.dismiss} onClick={() => dismiss(number)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </section>
  );
}
