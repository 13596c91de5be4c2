// An answer: its reasoning folded, its text as safe Markdown, and what it took.

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

import { text } from '../../text';
import { brief } from '../../text/visible';
import { Icon } from '../../ui/icon';
import { failure } from '../../ui/notices';
import { Foreign } from '../../ui/parts';
import { speedOf, type Figures, type Turn } from '../../workspace/conversations';
import { readable } from '../../workspace/plain';
import type { Running } from './asking';
import { Drawing } from './drawing';

import './answer.css';

interface Props {
  turn: Turn;
  /** What is still arriving; `null` if the answer is as whole as it will be. */
  running: Running | null;
  /** Called after each change of the text. */
  grown: () => void;
  children?: ComponentChildren;
}

/** An answer. When it has ended, what was drawn while it grew stays. */
export function Answer({ turn, running, grown, children }: Props) {
  const body = useRef<HTMLDivElement>(null);
  const thoughts = useRef<HTMLParagraphElement>(null);
  const shown = useRef('');
  const drawn = useRef<Drawing | null>(null);
  const begin = (root: HTMLElement): Drawing => {
    drawn.current?.stop();
    return (drawn.current = new Drawing(root, grown));
  };
  useLayoutEffect(() => {
    if (!running || !body.current) return undefined;
    const drawing = begin(body.current);
    drawing.push(running.text);
    if (thoughts.current) thoughts.current.textContent = readable(running.thought);
    running.onText = (piece) => drawing.push(piece);
    running.onThought = (piece) => thoughts.current?.append(readable(piece));
    return () => {
      drawing.finish();
      shown.current = running.text;
      running.onText = () => undefined;
      running.onThought = () => undefined;
    };
  }, [running]);
  useLayoutEffect(() => {
    if (running || !body.current) return;
    if (thoughts.current) thoughts.current.textContent = readable(turn.thought);
    if (shown.current === turn.answer) return;
    shown.current = turn.answer;
    const drawing = begin(body.current);
    drawing.push(turn.answer);
    drawing.finish();
  }, [running, turn]);
  useLayoutEffect(() => () => drawn.current?.stop(), []);
  const thinks = running ? running.heard.value !== 'nothing' && running.thought !== '' : turn.thought !== '';
  return (
    <article class="turn answered" aria-label={brief(turn.model)} aria-busy={running !== null || undefined}>
      <Speaker name={turn.model} />
      <details class="thought" hidden={!thinks}>
        <summary>{text.workspace.thought}</summary>
        <p ref={thoughts} dir="auto" />
      </details>
      <div ref={body} class="text" />
      <p class="usage">{running ? waitingWords(running) : noteOf(turn)}</p>
      {!running && (
        <div class="turn-actions">
          <CopyButton words={turn.answer} label={text.workspace.copyAnswer} />
          {children}
        </div>
      )}
    </article>
  );
}

function waitingWords({ heard }: Running): string {
  if (heard.value === 'text') return '';
  return heard.value === 'thought' ? text.workspace.thinking : text.workspace.waiting;
}

function noteOf({ state, figures }: Turn): string {
  const { notes } = text.workspace;
  const note = state === 'asked' || state === 'complete' ? [] : [notes[state]];
  return [...note, ...figuresOf(figures)].join(' · ');
}

function Speaker({ name }: { name: string }) {
  return (
    <h2 class="speaker">
      <Foreign>{name}</Foreign>
    </h2>
  );
}

export function CopyButton({ words, label }: { words: string; label: string }) {
  const done = useSignal(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(words);
    } catch {
      failure(new Error(text.workspace.copyFailed));
      return;
    }
    done.value = true;
    setTimeout(() => (done.value = false), 2_000);
  };
  const shown = done.value ? text.workspace.copied : label;
  return (
    <button type="button" class="icon-button" aria-label={shown} title={shown} onClick={() => void copy()}>
      <Icon name="copy" />
    </button>
  );
}

function figuresOf(figures: Figures | null): string[] {
  if (!figures) return [];
  const parts: string[] = [];
  if (figures.promptTokens !== null) parts.push(text.workspace.promptTokens(figures.promptTokens));
  if (figures.tokens !== null) parts.push(text.workspace.tokens(figures.tokens));
  if (figures.first !== null) parts.push(text.workspace.first(figures.first));
  const speed = speedOf(figures);
  if (speed !== null) parts.push(text.workspace.speed(speed));
  parts.push(text.workspace.took(figures.seconds));
  return parts;
}
