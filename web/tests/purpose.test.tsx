// What a model is for: said wherever the model is shown, and the workspace offers no chat where none is possible.

import { execFileSync } from 'node:child_process';

import { describe, expect, it, vi } from 'vitest';

import { purposeOf } from '../src/data/purpose';
import { deployments, deploymentsLoading, devices, devicesLoading, models, modelsLoading } from '../src/data/store';
import { systemOf } from '../src/data/system';
import type { Deployment, Task } from '../src/data/types';
import { ModelPage } from '../src/pages/catalogue/one';
import { ModelsPage } from '../src/pages/catalogue/page';
import { DeploymentsPage } from '../src/pages/deployments/page';
import { DevicePage } from '../src/pages/device/page';
import { WorkspacePage } from '../src/pages/workspace/page';
import { choose } from '../src/pages/workspace/state';
import { go } from '../src/ui/router';
import { requestLine } from '../src/workspace/lines';
import { deployment, device, HOSTILE, model } from './fixtures';
import { accessible, place, settled } from './placed';

vi.setConfig({ testTimeout: 30_000 });

const here = place();
const FACTS = { architecture: 'bert', parameters: 1e8, context_length: 512, memory_bytes: 1e8 };

function load(task: Task | null, more: Partial<Deployment> = {}): void {
  devices.loaded([device('a')]);
  models.loaded([model('1', { name: 'bge', plugin: 'language_model', facts: { ...FACTS, task } })]);
  deployments.loaded([deployment('1', 'dev_a', { alias: 'bge', port: 8081, serving: { state: 'serving', is_serving: true, port: 8081 }, ...more })]);
  for (const loading of [devicesLoading, modelsLoading, deploymentsLoading]) loading.value = { state: 'ready', error: null };
  choose('');
}

describe('the purpose', () => {
  it('is what the deployment says, then the file, then the plugin', () => {
    const known = (plugin: string, task: Task | null = null) => model('1', { plugin, facts: { ...FACTS, task } });
    expect(purposeOf(known('language_model', 'chat'), deployment('1', 'dev_a', { task: 'rerank' }))).toBe('rerank');
    expect(purposeOf(known('language_model', 'embeddings'), deployment('1', 'dev_a'))).toBe('embeddings');
    expect(purposeOf(known('audio_transcriber'))).toBe('transcription');
    expect(purposeOf(known('language_model'))).toBeNull();
    expect(purposeOf(known('constructor'))).toBeNull();
    expect(purposeOf(undefined)).toBeNull();
  });

  it.each([
    ['/models', () => <ModelsPage />],
    ['/models/mdl_1', () => <ModelPage />],
    ['/deployments', () => <DeploymentsPage />],
    ['/devices/dev_a', () => <DevicePage />],
  ])('is said on %s', async (path, page) => {
    load('embeddings');
    here.served.answers['/devices/dev_a'] = [200, device('a')];
    go(path);
    here.show(page());
    await settled('Embeddings');
    await accessible();
  });
});

describe('the workspace', () => {
  it.each([
    ['embeddings', 'it makes embeddings', '/v1/embeddings'],
    ['rerank', 'it ranks texts', '/v1/rerank'],
  ] as const)('offers no chat with a model for %s, and shows the request that works', async (task, words, path) => {
    load(task);
    here.show(<WorkspacePage />);
    await settled(words);
    expect(document.querySelector('#message')).toBeNull();
    expect(here.root.querySelector('.other-use pre')?.textContent).toContain(`127.0.0.1:8081${path}`);
    await accessible();
    const choice = here.root.querySelector<HTMLSelectElement>('.other-use select');
    if (!choice) throw new Error('there is no choice of a terminal');
    choice.value = 'powershell';
    choice.dispatchEvent(new Event('change', { bubbles: true }));
    await settled('Invoke-RestMethod');
  });

  it('chats with a model that is for chats first, and with one that nobody has read', async () => {
    load('embeddings');
    models.changed(model('2', { name: 'zephyr', plugin: 'language_model' }));
    deployments.changed(deployment('2', 'dev_a'));
    here.show(<WorkspacePage />);
    await vi.waitFor(() => expect(document.querySelector('#message')).not.toBeNull());
    const options = [...here.root.querySelectorAll('#model option')].map((one) => one.textContent);
    expect(options).toEqual(['bge on a (Embeddings)', 'zephyr on a']);
  });
});

describe('the line', () => {
  it.each([...HOSTILE.filter((words) => !words.includes('\ud800')), "it's $(id) `id` \"x\" \\n"])('gives a shell one request, whatever the words are: %j', (words) => {
    const line = requestLine('embeddings', 'sh', 8080, 'bge', [words]);
    const got = execFileSync('sh', ['-c', `curl() { printf '%s\\0' "$@"; }; ${line}`], { encoding: 'utf8' }).split('\0');
    expect(got.slice(0, 4)).toEqual(['http://127.0.0.1:8080/v1/embeddings', '-H', 'content-type: application/json', '-d']);
    expect(JSON.parse(got[4] ?? '')).toEqual({ model: 'bge', input: words });
    expect(got).toHaveLength(6);
  });

  it('doubles quotes for PowerShell', () => {
    const line = requestLine('rerank', 'powershell', 8080, 'bge', ["who's", 'a', 'b']);
    expect(line).toContain(`-Body '{"model":"bge","query":"who''s","documents":["a","b"]}'`);
  });
});

it.each([['Win32', 'windows'], ['Windows', 'windows'], ['MacIntel', 'macos'], ['macOS', 'macos'], ['Linux x86_64', 'linux'], ['', 'linux']])('a browser on %s is on %s', (platform, system) => {
  expect(systemOf(platform)).toBe(system);
});
