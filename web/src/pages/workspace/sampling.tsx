// What a conversation tells the model beside its questions: the system prompt, and how tokens are chosen.

import { text } from '../../text';
import type { Sampling } from '../../workspace/chat';
import { conversation, settle } from './state';

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
  const changed = (name: keyof Sampling, input: HTMLInputElement): void => {
    const value = input.value === '' ? null : input.valueAsNumber;
    // A number that the field itself refuses is not sent.
    if (!input.validity.valid || Number.isNaN(value)) return;
    settle({ ...conversation.peek(), sampling: { ...conversation.peek().sampling, [name]: value } });
  };
  return (
    <details class="sampling">
      <summary>{text.sampling.open}</summary>
      <div class="sampling-body">
        <div class="field">
          <label for="system">{text.sampling.system}</label>
          <textarea
            id="system"
            data-kept={kept}
            rows={3}
            dir="auto"
            aria-describedby="system-hint"
            value={current.system}
            onChange={(event) => settle({ ...conversation.peek(), system: event.currentTarget.value })}
          />
          <p id="system-hint" class="hint">
            {text.sampling.systemHint}
          </p>
        </div>
        <div class="sampling-numbers">
          {FIELDS.map(({ name, label, least, most, step }) => (
            <div key={name} class="field">
              <label for={name}>{label}</label>
              <input
                id={name}
                data-kept={kept}
                type="number"
                min={least}
                max={most}
                step={step}
                placeholder={text.sampling.usual}
                value={current.sampling[name] ?? ''}
                onChange={(event) => changed(name, event.currentTarget)}
              />
            </div>
          ))}
        </div>
      </div>
    </details>
  );
}
