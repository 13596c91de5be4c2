// Short notices at the edge of the page, spoken by screen readers. A bad one stays until it is closed. How some work has ended takes
// the place of the notice that it has begun.

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
  work: string | undefined;
}

/** How long a good notice stays, in milliseconds. */
const STAY = 6_000;
const MOST = 4;

const shown = signal<readonly Notice[]>([]);
ofPerson(() => (shown.value = []));
let count = 0;

/** Shows a notice, in the place of a good one about the same `work`: the id of what is uploaded or updated, or `deploymentWork`. */
export function notice(words: string, tone: Tone = 'good', work?: string): void {
  const number = (count += 1);
  shown.value = [...others(work), { number, words, tone, work }].slice(-MOST);
  if (tone === 'good') setTimeout(() => dismiss(number), STAY);
}

/** Shows why something failed. Nobody waits for what a person has left. */
export function failure(error: unknown): void {
  if (error instanceof PersonLeft) return;
  notice(wordsOf(error), 'bad');
}

/** Takes back the notice that some work has begun. */
export function withdraw(work: string): void {
  shown.value = others(work);
}

/** The work of putting a model on a device, for its notices. */
export function deploymentWork({ model_id: model, device_id: device }: { model_id: string; device_id: string }): string {
  return `${model} ${device}`;
}

function others(work: string | undefined): Notice[] {
  return shown.value.filter((one) => work === undefined || one.work !== work || one.tone === 'bad');
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
