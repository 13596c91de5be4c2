// The small parts of every page: badges, meters, times, empty states, errors, skeletons, copied codes.

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';

import { Problem } from '../data/problem';
import { text } from '../text';
import { moment } from '../text/format';
import { brief, visible } from '../text/visible';
import { past } from './exact_times';
import { Icon, type IconName } from './icon';
import { Prose } from './prose';
import { useTitle } from './title';

export type Tone = 'good' | 'warn' | 'bad' | 'busy' | 'quiet';

interface BadgeProps {
  tone: Tone;
  children: ComponentChildren;
  title?: string;
  /** The page that shows what the badge counts, and can mend it. */
  href?: string;
}

/** A state in words; the dot repeats it in colour and the words carry it alone. */
export function Badge({ tone, children, title, href }: BadgeProps) {
  const name = `badge ${tone}`;
  if (href === undefined) {
    return (
      <span class={name} title={title}>
        {children}
      </span>
    );
  }
  return (
    <a class={name} title={title} href={href}>
      {children}
    </a>
  );
}

/** The most characters that fit wherever a text stands, and in the frame of a tag. */
const FITS = 20;
const FITS_TAG = 10;

/** A text from outside: shown as it is, isolated from its surroundings, and on one line. */
export function Foreign({ children, class: name = '' }: { children: string; class?: string }) {
  const words = brief(children, 500);
  return (
    <bdi class={`foreign ${name}`} title={words.length > (name === 'tag' ? FITS_TAG : FITS) ? words : undefined}>
      {words}
    </bdi>
  );
}

/** What a badge says, and in which tone. */
export interface BadgeWords {
  tone: Tone;
  words: string;
}

/** How bad it is that so much is used. */
export function levelOf(share: number): 'good' | 'warn' | 'bad' {
  return share >= 0.9 ? 'bad' : share >= 0.75 ? 'warn' : 'good';
}

/** A share with its number: the bar is for the eye only. */
export function Meter({ share, label, tone }: { share: number; label: string; tone?: 'good' }) {
  const bounded = Math.min(Math.max(share, 0), 1);
  const level = tone ?? levelOf(bounded);
  return (
    <span class="meter">
      <span class="number">{label}</span>
      <span class={`bar ${level}`} style={{ '--share': `${Math.round(bounded * 100)}%` }} aria-hidden="true" />
    </span>
  );
}

export function Time({ at }: { at: string | null | undefined }) {
  if (!at) return <span class="soft">{text.time.never}</span>;
  return (
    <time dateTime={at} title={moment(at)}>
      {past(at)}
    </time>
  );
}

/** `alone` is what stands in place of a whole page: its title is the page's. */
export function Empty({ icon, title, alone = false, children }: { icon: IconName; title: string; alone?: boolean; children: ComponentChildren }) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <Title alone={alone}>{title}</Title>
      {children}
    </div>
  );
}

/** Why something is not there, in the backend's words, and a way to try again. */
export function Failed({ title, error, retry, alone = false }: { title: string; error: unknown; retry: () => void; alone?: boolean }) {
  const problem = error instanceof Problem ? error : null;
  return (
    <div class="empty failed" role="alert">
      <Icon name="warning" />
      <Title alone={alone}>{title}</Title>
      <p dir="auto">
        <Prose words={error instanceof Error ? error.message : text.problems.unknown} />
      </p>
      {problem?.hint && (
        <p dir="auto">
          <Prose words={problem.hint} />
        </p>
      )}
      {problem?.retryAfter != null && <p>{text.problems.retryIn(problem.retryAfter)}</p>}
      <button type="button" class="button" onClick={retry}>
        {text.problems.retry}
      </button>
      {problem?.requestId && <p class="small">{text.problems.request(visible(problem.requestId))}</p>}
    </div>
  );
}

function Title({ alone, children }: { alone: boolean; children: string }) {
  useTitle(alone ? children : null);
  return alone ? <h1>{children}</h1> : <h2>{children}</h2>;
}

/** Why what is shown could not be loaded anew, and a way to try again. */
export function Outdated({ title, error, retry }: { title: string; error: unknown; retry: () => void }) {
  return (
    <p class="banner bad" role="alert">
      {title}: {error instanceof Error ? error.message : text.problems.unknown}{' '}
      <button type="button" class="button" onClick={retry}>
        {text.problems.retry}
      </button>
    </p>
  );
}

/** The outline of lines that are being loaded. `alone` is what stands in place of a whole page, which has a title. */
export function Skeleton({ lines, alone = false }: { lines: number; alone?: boolean }) {
  const bones = (
    <div class="skeleton" role="status" aria-label={text.shell.loading}>
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} class="bone" />
      ))}
    </div>
  );
  if (!alone) return bones;
  return (
    <div class="page">
      <h1 class="visually-hidden">{text.shell.loading}</h1>
      {bones}
    </div>
  );
}

/** A code with a button that copies it. */
export function Copied({ code, label }: { code: string; label: string }) {
  const said = useSignal('');
  const selected = useSignal(false);
  const shown = useRef<HTMLElement>(null);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(code);
      said.value = text.device.copied;
      selected.value = false;
      setTimeout(() => (said.value = ''), 2_000);
    } catch {
      // A browser may forbid the clipboard: then the selected text is copied by hand.
      if (shown.current) getSelection()?.selectAllChildren(shown.current);
      selected.value = true;
    }
  };
  const words = said.value || label;
  return (
    <span class="copied">
      <code ref={shown}>{code}</code>
      <button type="button" class="icon-button" aria-label={words} title={words} onClick={() => void copy()}>
        <Icon name="copy" />
      </button>
      <span class="small" role="status">
        {selected.value && text.admin.selected}
      </span>
    </span>
  );
}
