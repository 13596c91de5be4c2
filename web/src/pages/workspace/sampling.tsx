// What a conversation tells the model beside its questions: the system prompt, and how tokens are chosen.

import type { Ref } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

import { text } from '../../text';
import type { Sampling } from '../../workspace/chat';
import { settle } from './keeping';
import { conversation } from './state';

import './sampling.css';

interface Field {
  name: keyof Sampling;
  label: string;
  least: number;
  most: number;
  step: number;
}

const FIELDS: readonly Field[] = [
  { name: 'temperature', label: text.sampling.temperature, least: 0, most: 2, step: 0.1 },
  { name: 'top_p', label: text.sampling.topP, least: 0, most: 1, step: 0.05 },
  { name: 'max_tokens', label: text.sampling.maxTokens, least: 1, most: 1_000_000, step: 1 },
];

export function SamplingForm() {
  const current = conversation.value;
  // A conversation without a question is not in the storage yet.
  const kept = current.turns.length > 0 ? true : undefined;
  const system = useField<HTMLTextAreaElement>(current.id, current.system);
  return (
    <details class="sampling">
      <summary>{text.sampling.open}</summary>
      <div class="sampling-body">
        <div class="field">
          <label for="system">{text.sampling.system}</label>
          <textarea
            id="system"
            ref={system}
            data-kept={kept}
            rows={3}
            dir="auto"
            aria-describedby="system-hint"
            onChange={(event) => settle({ ...conversation.peek(), system: event.currentTarget.value })}
          />
          <p id="system-hint" class="hint">
            {text.sampling.systemHint}
          </p>
        </div>
        <div class="sampling-numbers">
          {FIELDS.map((field) => (
            <NumberField key={field.name} field={field} kept={kept} />
          ))}
        </div>
      </div>
    </details>
  );
}

function NumberField({ field: { name, label, least, most, step }, kept }: { field: Field; kept: true | undefined }) {
  const { id, sampling } = conversation.value;
  const input = useField<HTMLInputElement>(id, String(sampling[name] ?? ''));
  const changed = ({ value: words, valueAsNumber, validity }: HTMLInputElement): void => {
    const value = words === '' ? null : valueAsNumber;
    // A number that the field itself refuses is not sent.
    if (!validity.valid || Number.isNaN(value)) return;
    settle({ ...conversation.peek(), sampling: { ...conversation.peek().sampling, [name]: value } });
  };
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <input
        id={name}
        ref={input}
        data-kept={kept}
        type="number"
        min={least}
        max={most}
        step={step}
        placeholder={text.sampling.usual}
        onChange={(event) => changed(event.currentTarget)}
      />
    </div>
  );
}

/** Returns the reference of a field that shows what the conversation has. What is being typed stays until it is entered, whatever
 * another tab changes meanwhile; another conversation brings its own. */
function useField<T extends HTMLInputElement | HTMLTextAreaElement>(conversationId: string, value: string): Ref<T> {
  const field = useRef<T>(null);
  const shown = useRef({ conversationId, value: '' });
  const latest = useRef(value);
  latest.current = value;
  useLayoutEffect(() => {
    const { current } = field;
    if (!current) return;
    const isTyped = document.activeElement === current && ![shown.current.value, value].includes(current.value);
    if (isTyped && shown.current.conversationId === conversationId) return;
    current.value = value;
    shown.current = { conversationId, value: current.value };
  }, [conversationId, value]);
  useLayoutEffect(() => {
    const { current } = field;
    // Text that was typed and undone is not a change: the field shows the conversation's current value.
    const left = (): void => {
      if (current && current.value === shown.current.value) current.value = latest.current;
    };
    current?.addEventListener('blur', left);
    return () => current?.removeEventListener('blur', left);
  }, []);
  return field;
}
