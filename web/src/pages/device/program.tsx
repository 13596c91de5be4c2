// How a program on the device uses its models: the address, the names, and a line to try.

import { purposeOf } from '../../data/purpose';
import { models } from '../../data/store';
import type { Deployment } from '../../data/types';
import { text } from '../../text';
import { brief } from '../../text/visible';
import { CopyBox } from '../../ui/secret';

/** The models that are served, by the port that they share. */
export function fromPrograms(shown: readonly Deployment[]): ReadonlyMap<number, readonly Deployment[]> {
  const ports = new Map<number, Deployment[]>();
  for (const one of shown) {
    if (one.serving?.is_serving !== true) continue;
    const there = ports.get(one.serving.port) ?? [];
    ports.set(one.serving.port, [...there, one]);
  }
  return ports;
}

export function FromPrograms({ shown }: { shown: readonly Deployment[] }) {
  const ports = [...fromPrograms(shown)];
  if (ports.length === 0) return null;
  const chat = ports.flatMap(([, there]) => there).find((one) => purposeOf(models.row(one.model_id)?.value, one) === 'chat');
  return (
    <details class="from-programs">
      <summary>{text.programs.title}</summary>
      <p>{text.programs.how}</p>
      <dl class="facts-list">
        {ports.map(([port, there]) => (
          <div key={port}>
            <dt>
              <code translate={false}>{baseOf(port)}</code>
            </dt>
            <dd>{there.map(({ alias }) => brief(alias)).join(', ')}</dd>
          </div>
        ))}
      </dl>
      {chat?.serving && <CopyBox value={lineFor(chat.serving.port, chat.alias)} label={text.programs.line} primary={false} />}
    </details>
  );
}

const baseOf = (port: number): string => `http://127.0.0.1:${port}/v1`;

/** An alias consists of letters, digits, dots and hyphens, so it needs no quotes of its own. */
function lineFor(port: number, alias: string): string {
  const body = JSON.stringify({ model: alias, messages: [{ role: 'user', content: 'Hello!' }] });
  return `curl ${baseOf(port)}/chat/completions -H 'content-type: application/json' -d '${body}'`;
}
