// The form of every page that lets somebody in: one failure in words, and a countdown while the backend wants a pause.

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

import { Problem, wordsOf } from '../data/problem';
import { barred, farewell } from '../data/session';
import { text } from '../text';
import { pageAt } from './addresses';
import { Prose } from './prose';
import { useTitle } from './title';

interface Props {
  title: string;
  submit: string;
  /** What the form does with its values. What it throws is shown. */
  send: (values: FormData) => Promise<void>;
  children: ComponentChildren;
  /** What stands below the button. */
  after?: ComponentChildren;
  /** Whether the form is a part of a page, and not what the page is for. */
  inner?: boolean;
}

export function EntryForm({ title, submit, send, children, after, inner = false }: Props) {
  useTitle(inner ? null : title);
  const { failed, wait, refuse } = useRefusal();
  const busy = useSignal(false);
  const form = useRef<HTMLFormElement>(null);
  const id = useId();
  useEffect(() => {
    if (inner) return;
    const fields = [...(form.current?.querySelectorAll('input') ?? [])];
    fields.find(({ value }) => value === '')?.focus();
  }, []);
  // Words that come after their element are announced.
  useEffect(() => {
    if (!inner && barred.value !== null) failed.value = whyBarred(barred.value);
  }, [barred.value]);
  const sent = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (busy.peek() || wait.peek() > 0) return;
    failed.value = '';
    busy.value = true;
    try {
      await send(new FormData(event.currentTarget as HTMLFormElement));
    } catch (error) {
      refuse(error);
    } finally {
      busy.value = false;
    }
  };
  return (
    <form ref={form} class={inner ? undefined : 'entry'} aria-labelledby={id} onSubmit={(event) => void sent(event)}>
      {inner ? (
        <h2 id={id}>{title}</h2>
      ) : (
        <>
          <p class="entry-brand">
            <img src="/assets/icon.svg" alt="" width="28" height="28" />
            {text.product}
          </p>
          <h1 id={id}>{title}</h1>
        </>
      )}
      {!inner && farewell.value !== 'told' && (
        <p class={farewell.value === 'failed' ? 'banner bad' : 'banner busy'} role="alert">
          {text.entry.farewell[farewell.value]}
        </p>
      )}
      {children}
      <Refusal words={failed.value} wait={wait.value} />
      <button type="submit" class="button primary" disabled={busy.value || wait.value > 0}>
        {submit}
      </button>
      {after}
    </form>
  );
}

/** The last refusal, and the seconds until the backend accepts another request. */
export function useRefusal() {
  const failed = useSignal('');
  const wait = useSignal(0);
  useEffect(() => {
    if (wait.value === 0) return undefined;
    const timer = setTimeout(() => {
      wait.value -= 1;
      if (wait.peek() === 0) failed.value = text.entry.waited;
    }, 1_000);
    return () => clearTimeout(timer);
  }, [wait.value]);
  const refuse = (error: unknown): void => {
    wait.value = error instanceof Problem && error.status === 429 ? Math.ceil(error.retryAfter ?? 60) : 0;
    failed.value = wait.peek() > 0 ? text.entry.wait(wait.peek()) : wordsOf(error);
  };
  return { failed, wait, refuse };
}

/** The words of a refusal, with a countdown while one has to wait. */
export function Refusal({ words, wait }: { words: string; wait: number }) {
  return (
    <>
      <p class={wait > 0 ? 'visually-hidden' : 'form-error'} role="alert" dir="auto">
        <Prose words={words} />
      </p>
      {wait > 0 && (
        // The failure is spoken once; the countdown is for the eye.
        <p class="form-error" aria-hidden="true">
          {text.entry.wait(wait)}
        </p>
      )}
    </>
  );
}

interface FieldProps {
  name: string;
  label: string;
  hint?: string;
  type?: 'text' | 'email' | 'password';
  autocomplete?: string;
  value?: string;
  minLength?: number;
  maxLength?: number;
}

export function EntryField({ name, label, hint, type = 'text', autocomplete = 'off', ...more }: FieldProps) {
  const hintId = hint ? `${name}-hint` : undefined;
  const attributes = {
    id: name, name, autocomplete, autocapitalize: 'none', spellcheck: false, required: true, 'aria-describedby': hintId, ...more,
  } as const;
  return (
    <div class="field">
      <label for={name}>{label}</label>
      {type === 'password' && <input type="password" {...attributes} />}
      {type === 'email' && <input type="email" {...attributes} />}
      {type === 'text' && <input type="text" {...attributes} />}
      {hint && (
        <p id={hintId} class="soft small">
          {hint}
        </p>
      )}
    </div>
  );
}

/** Says why nobody can log in over plain http on the network. */
export function PlainHttp() {
  useTitle(text.entry.plainTitle);
  return (
    <section class="entry" aria-labelledby="plain-title">
      <h1 id="plain-title">{text.entry.plainTitle}</h1>
      <p>{text.entry.plain}</p>
      <ul>
        {text.entry.plainCures.map((cure) => (
          <li key={cure}>{cure}</li>
        ))}
      </ul>
    </section>
  );
}

/** Tells whether the backend logs nobody in at this address. */
export function isPlainHttp({ protocol, hostname }: { protocol: string; hostname: string }): boolean {
  return protocol === 'http:' && !/^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

/** What happened, and what to do: whoever follows an address of `link open` has a terminal. */
function whyBarred(error: unknown): string {
  if (!(error instanceof Error)) return text.problems.unknown;
  return [error.message, error instanceof Problem ? error.hint : null].filter(Boolean).join(' ');
}

/** Returns the address to go on to: a path of this origin, whatever `wanted` says. */
export function safeNext(wanted: string | null): string {
  const home = '/';
  if (!wanted?.startsWith('/')) return home;
  try {
    const url = new URL(wanted, location.origin);
    // The result is judged: `/.//host` is of this origin, but the path `//host` that is left of it leads to another host.
    if (url.origin !== location.origin || /^\/[/\\]/.test(url.pathname)) return home;
    // A page of the login would not lead on.
    return pageAt(url.pathname) === 'login' ? home : url.pathname + url.search + url.hash;
  } catch {
    return home;
  }
}
