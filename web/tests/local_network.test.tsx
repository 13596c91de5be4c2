// @vitest-environment-options {"url": "https://link.example/workspace"}
// The browser's permission to reach this computer, for a page that does not come from it: explained before the browser asks, and
// after it was denied.

import { expect, it, vi } from 'vitest';

import { deployments, deploymentsLoading, devices, devicesLoading, models, modelsLoading } from '../src/data/store';
import { WorkspacePage } from '../src/pages/workspace/page';
import { text } from '../src/text';
import { deployment, device, model } from './fixtures';
import { accessible, place, settled } from './placed';

const here = place();
const asked: string[] = [];

/** Opens the workspace in a browser that says so of its permission, and that lets no request to this computer through. */
async function open(permission: PermissionState): Promise<void> {
  asked.length = 0;
  const query = ({ name }: { name: string }): Promise<{ state: PermissionState }> =>
    name === 'loopback-network' ? Promise.resolve({ state: permission }) : Promise.reject(new TypeError(name));
  Object.defineProperty(navigator, 'permissions', { configurable: true, value: { query } });
  vi.stubGlobal('isSecureContext', true);
  const toBackend = globalThis.fetch;
  vi.stubGlobal('fetch', async (input: Request | string, init?: RequestInit) => {
    const url = typeof input === 'string' ? input : input.url;
    if (!url.startsWith('http://127.0.0.1')) return toBackend(input, init);
    asked.push(url);
    throw new TypeError('Failed to fetch');
  });
  devices.loaded([device('a')]);
  models.loaded([model('a', { plugin: 'language_model' })]);
  deployments.loaded([deployment('a', 'dev_a')]);
  for (const loading of [devicesLoading, modelsLoading, deploymentsLoading]) loading.value = { state: 'ready', error: null };
  here.show(<WorkspacePage />);
  await vi.waitFor(() => expect(here.root.querySelector('#message')).not.toBeNull());
}

it('is explained before the browser asks for it, and nothing is asked of the model until somebody has a question', async () => {
  await open('prompt');
  await settled(text.localNetwork.title);
  await settled('Choose “Allow”.');
  await accessible();
  expect(asked).toEqual([]);
  const understood = [...here.root.querySelectorAll('button')].find(({ textContent }) => textContent === text.localNetwork.understood);
  understood?.click();
  await vi.waitFor(() => expect(here.root.textContent).not.toContain(text.localNetwork.title));
});

it('is not explained to whom has given it', async () => {
  await open('granted');
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(here.root.textContent).not.toContain(text.localNetwork.title);
});

it('is explained after it was denied: what to click, how to do without, and the policy for administrators', async () => {
  await open('denied');
  const field = here.root.querySelector<HTMLTextAreaElement>('#message') as HTMLTextAreaElement;
  field.value = 'Hi';
  field.dispatchEvent(new Event('input', { bubbles: true }));
  await vi.waitFor(() => expect(here.root.querySelector('#send')?.getAttribute('aria-disabled')).toBe('false'));
  field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
  await settled('The browser denies this page access to this computer');
  for (const step of text.localNetwork.step) expect(here.root.textContent).toContain(step);
  const policy = here.root.querySelector<HTMLDetailsElement>('.how-to details');
  expect(policy?.open).toBe(false);
  expect(policy?.textContent).toContain('LoopbackNetworkAllowedForUrls');
  expect(here.root.textContent).toContain('https://link.example');
  expect(here.root.textContent).toContain('open the workspace on the device itself, as http://localhost');
  expect(asked.length).toBeGreaterThan(0);
  await accessible();
});
