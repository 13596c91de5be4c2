// The buttons that copy an answer and the code in it: the clipboard has the text, and a refusal is said.

import { afterEach, describe, expect, it, vi } from 'vitest';

import { Answer } from '../src/pages/workspace/answer';
import { Running } from '../src/pages/workspace/asking';
import { text } from '../src/text';
import { Notices } from '../src/ui/notices';
import type { Turn } from '../src/workspace/conversations';
import { accessible, control, place, press, settled } from './placed';

const here = place();
const copied: string[] = [];

function clipboard(writeText: (words: string) => Promise<void>): void {
  copied.length = 0;
  Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText } });
}
const allowed = (): void => clipboard(async (words) => void copied.push(words));
const refused = (): void => clipboard(() => Promise.reject(new DOMException('denied', 'NotAllowedError')));

const turn = (answer: string): Turn => ({
  id: 'turn', question: 'How?', answer, thought: 'A thought.', figures: null, model: 'llama', state: 'complete',
});
const show = (answer: string, running: Running | null = null): void =>
  here.show(<main><Answer turn={turn(answer)} running={running} grown={() => undefined} /><Notices /></main>);
const codeButtons = (): HTMLButtonElement[] => [...here.root.querySelectorAll<HTMLButtonElement>('.code-head button')];
/** The text of the last copy. */
const lastCopied = (): string | undefined => copied.at(-1);

afterEach(() => vi.useRealTimers());

describe('the button of a code block', () => {
  const SCRIPT = 'if (a < b && "c") {\n\treturn `<b>${d}</b>`;\n}\n\n// end';

  it('copies the code beside it, and nothing else of the answer', async () => {
    allowed();
    show(`First:\n\n\`\`\`ts\n${SCRIPT}\n\`\`\`\n\nThen:\n\n- a list with\n  \`\`\`\n  curl -s http://127.0.0.1:8080\n  \`\`\`\n`);
    await vi.waitFor(() => expect(codeButtons()).toHaveLength(2));
    await accessible();
    for (const [at, code] of [SCRIPT, 'curl -s http://127.0.0.1:8080'].entries()) {
      codeButtons()[at]?.click();
      await vi.waitFor(() => expect(lastCopied()).toBe(code));
    }
    expect(copied).toHaveLength(2);
  });

  it('says for two seconds that the code was copied', async () => {
    allowed();
    show('```\none\n```\n\n```\ntwo\n```');
    await vi.waitFor(() => expect(codeButtons()).toHaveLength(2));
    vi.useFakeTimers();
    codeButtons()[1]?.click();
    await vi.advanceTimersByTimeAsync(1_900);
    const said = (): [string | null, string | null][] => codeButtons().map((one) => [one.textContent, one.getAttribute('aria-label')]);
    expect(said()).toEqual([['Copy', 'Copy the code'], ['Copied', 'Copied']]);
    await vi.advanceTimersByTimeAsync(200);
    expect(said()).toEqual([['Copy', 'Copy the code'], ['Copy', 'Copy the code']]);
  });

  it('says that the browser refuses the clipboard', async () => {
    refused();
    show('```\none\n```');
    await vi.waitFor(() => expect(codeButtons()).toHaveLength(1));
    codeButtons()[0]?.click();
    await settled(text.workspace.copyFailed);
    expect(codeButtons()[0]?.getAttribute('aria-label')).toBe(text.workspace.copyFailed);
    expect(document.body.textContent).not.toContain(text.workspace.copied);
  });

  it('copies a long code block as far as it has arrived, and the whole block at the end', async () => {
    allowed();
    const lines = (from: number, to: number): string =>
      Array.from({ length: to - from }, (_, at) => `line ${from + at} of a script`).join('\n');
    const running = new Running('c', 'turn');
    running.hear({ text: `\`\`\`sh\n${lines(0, 400)}\n`, thought: '' });
    show('', running);
    await settled('line 399');
    codeButtons()[0]?.click();
    await vi.waitFor(() => expect(lastCopied()).toBe(lines(0, 400)));
    running.hear({ text: `${lines(400, 800)}\n\`\`\`\n`, thought: '' });
    await settled('line 799');
    show(running.text);
    await control('Copy the answer');
    codeButtons()[0]?.click();
    await vi.waitFor(() => expect(lastCopied()).toBe(lines(0, 800)));
    expect(codeButtons()).toHaveLength(1);
  });
});

describe('the button of an answer', () => {
  const ANSWER = '  **Bold**, a [link](https://example.com) & <b>markup</b>:\n\n```\ncode\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n';

  it('copies the Markdown as the model wrote the answer, without its reasoning', async () => {
    allowed();
    show(ANSWER);
    await press('Copy the answer');
    await control('Copied');
    expect(copied).toEqual([ANSWER]);
    await accessible();
  });

  it('is not there before the answer is complete', async () => {
    const running = new Running('c', 'turn');
    show('', running);
    running.hear({ text: 'Half an answer', thought: '' });
    await settled('Half an answer');
    expect(here.root.querySelector('[aria-label="Copy the answer"]')).toBeNull();
    show('Half an answer');
    await control('Copy the answer');
  });

  it('says that the browser refuses the clipboard', async () => {
    refused();
    show(ANSWER);
    await press('Copy the answer');
    await settled(text.workspace.copyFailed);
    expect(here.root.querySelector('[aria-label=Copied]')).toBeNull();
  });
});
