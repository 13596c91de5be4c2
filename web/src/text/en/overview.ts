// Words of the page that shows first what needs a person.

import { plural } from './plural';

const are = (count: number): string => (count === 1 ? 'is' : 'are');

export const overviewPage = {
  title: 'Overview',
  failedTitle: 'The overview could not be loaded',
  needs: 'Needs attention',
  well: 'Nothing needs attention. Every device is online and every allowlist is current.',
  offline: (count: number) => `${plural(count, 'device', 'devices')} ${are(count)} offline.`,
  failed: (count: number) => `${plural(count, 'deployment has', 'deployments have')} failed.`,
  rolledBack: (count: number) => `The last update was rolled back on ${plural(count, 'device', 'devices')}.`,
  full: (count: number) => count === 1 ? 'The disk of 1 device is nearly full.' : `The disks of ${count.toLocaleString('en')} devices are nearly full.`,
  keys: (count: number) => `${plural(count, 'key expires', 'keys expire')} within a week.`,
  incomplete: (count: number) => `${plural(count, 'model has', 'models have')} no complete file.`,
  show: 'Show',
  showWhat: (what: string) => `Show: ${what}`,
  counts: 'Counts',
  devices: 'Devices online',
  deployments: 'Deployments serving',
  models: 'Models',
  repairs: 'Repairs under way',
  operations: 'Operations running',
  progress: 'Deployments in progress',
  tokens: 'Tokens today',
  of: (part: number, all: number) => `${part.toLocaleString('en')} of ${all.toLocaleString('en')}`,
  requests: (count: number, prompt: number, completion: number) =>
    plural(count, 'request', 'requests') + (prompt + completion > 0 ? `: ${prompt.toLocaleString('en')} prompt, ${completion.toLocaleString('en')} completion` : ''),
  updating: (count: number) => `${count.toLocaleString('en')} updating`,
  versions: 'Agent versions',
  versionOf: (devices: number) => plural(devices, 'device', 'devices'),
  newest: 'Newest commands',
  noEvents: 'No command yet.',
  eventsFailed: 'The newest commands could not be loaded',
  welcome: 'Three steps to the first answer',
  step1: 'Add a device',
  step1Body: 'Run one line on the machine that is to run models. The machine appears here by itself.',
  step1Action: 'Make a key and copy the line',
  step1More: 'More ways to add a device',
  step2: 'Add a model',
  step2Body: 'Upload a model file, or name its address and checksum. Then deploy the model to the device.',
  step2Action: 'Open the models',
  step3: 'Ask a question',
  step3Body: 'The workspace talks to the model on the device, from this browser.',
  step3Action: 'Open the workspace',
} as const;
