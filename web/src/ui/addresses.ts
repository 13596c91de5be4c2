// The addresses of the pages of this application; `PAGES` of the backend lists the same ones. Pure. Links need no page's code: `routes.ts`
// of the app loads that.

interface Address {
  pattern: RegExp;
  /** Whether the page is for people who are not logged in too, and stands alone. */
  open?: boolean;
  /** The backend sends this page with a policy of its own, so it is never reached without loading it. */
  alone?: true;
}

const ADDRESSES = {
  overview: { pattern: /^\/$/ },
  devices: { pattern: /^\/devices\/?$/ },
  // Before the page of a device, whose pattern takes any name.
  add: { pattern: /^\/devices\/add\/?$/ },
  device: { pattern: /^\/devices\/[^/]+$/ },
  login: { pattern: /^\/login\/?$/, open: true },
  setup: { pattern: /^\/setup\/?$/, open: true },
  invite: { pattern: /^\/invite\/?$/, open: true },
  machine: { pattern: /^\/device\/?$/ },
  keys: { pattern: /^\/keys\/?$/ },
  members: { pattern: /^\/members\/?$/ },
  tokens: { pattern: /^\/tokens\/?$/ },
  audit: { pattern: /^\/audit\/?$/ },
  usage: { pattern: /^\/usage\/?$/ },
  settings: { pattern: /^\/settings\/?$/ },
  deployments: { pattern: /^\/deployments\/?$/ },
  repairs: { pattern: /^\/repairs\/?$/ },
  operations: { pattern: /^\/operations\/?$/ },
  operation: { pattern: /^\/operations\/[^/]+$/ },
  models: { pattern: /^\/models\/?$/ },
  model: { pattern: /^\/models\/[^/]+$/ },
  workspace: { pattern: /^\/workspace$/, alone: true },
} as const satisfies Record<string, Address>;

export type PageName = keyof typeof ADDRESSES;

/** Tells whether a page stands alone, for people who are not logged in too. */
export function isOpen(name: PageName | null): boolean {
  return name !== null && (ADDRESSES[name] as Address).open === true;
}

/** Returns the page of an address; `null` if the address is not one of this application. */
export function pageAt(path: string): PageName | null {
  const names = Object.keys(ADDRESSES) as PageName[];
  return names.find((name) => ADDRESSES[name].pattern.test(path)) ?? null;
}

/** Tells whether one address follows another within the page that was loaded: the policy of that page holds for both. */
export function sharesDocument(from: string, to: string): boolean {
  const [here, there] = [pageAt(from), pageAt(to)];
  const standsAlone = (name: PageName | null): boolean => name !== null && (ADDRESSES as Record<PageName, Address>)[name].alone === true;
  return there !== null && (here === there || !(standsAlone(here) || standsAlone(there)));
}

/** Returns the address of the workspace with a model of a device. */
export function workspaceWith(modelId: string, deviceId: string): string {
  return `/workspace?${new URLSearchParams({ model: modelId, device: deviceId })}`;
}
