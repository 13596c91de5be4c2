// The addresses of the pages of this application; `PAGES` of the backend lists the same ones. Pure. Links need no page's code: `routes.ts`
// of the app loads that.

const PATTERNS = {
  overview: /^\/$/,
  devices: /^\/devices\/?$/,
  // Before the page of a device, whose pattern takes any name.
  add: /^\/devices\/add\/?$/,
  device: /^\/devices\/[^/]+$/,
  login: /^\/login\/?$/,
  setup: /^\/setup\/?$/,
  invite: /^\/invite\/?$/,
  machine: /^\/device\/?$/,
  keys: /^\/keys\/?$/,
  members: /^\/members\/?$/,
  tokens: /^\/tokens\/?$/,
  audit: /^\/audit\/?$/,
  usage: /^\/usage\/?$/,
  settings: /^\/settings\/?$/,
  deployments: /^\/deployments\/?$/,
  repairs: /^\/repairs\/?$/,
  operations: /^\/operations\/?$/,
  operation: /^\/operations\/[^/]+$/,
  models: /^\/models\/?$/,
  model: /^\/models\/[^/]+$/,
  workspace: /^\/workspace$/,
};

export type PageName = keyof typeof PATTERNS;

/** The backend sends this page with a policy of its own, so it is never reached without loading it. */
const ALONE: PageName = 'workspace';

/** Tells whether a page stands alone, for people who are not logged in too. */
export function isOpen(name: PageName | null): boolean {
  return name === 'login' || name === 'setup' || name === 'invite';
}

/** Returns the page of an address; `null` if the address is not one of this application. */
export function pageAt(path: string): PageName | null {
  const names = Object.keys(PATTERNS) as PageName[];
  return names.find((name) => PATTERNS[name].test(path)) ?? null;
}

/** Tells whether one address follows another within the page that was loaded: the policy of that page holds for both. */
export function sharesDocument(from: string, to: string): boolean {
  const [here, there] = [pageAt(from), pageAt(to)];
  return there !== null && (here === there || (here !== ALONE && there !== ALONE));
}

/** Returns the address of the workspace with a model of a device. */
export function workspaceWith(modelId: string, deviceId: string): string {
  return `/workspace?${new URLSearchParams({ model: modelId, device: deviceId })}`;
}
