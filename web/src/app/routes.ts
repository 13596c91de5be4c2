// The addresses of this application. The page of an address is loaded on demand; `PAGES` of the backend lists the same
// addresses.

import type { ComponentType } from 'preact';

interface Route {
  pattern: RegExp;
  load: () => Promise<ComponentType>;
  /** Whether the page is for people who are not logged in too, and stands alone. */
  open?: boolean;
  /** The backend sends this page with a policy of its own, so it is never reached without loading it. */
  alone?: true;
}

export const ROUTES = {
  overview: {
    pattern: /^\/$/,
    load: async () => (await import('../pages/overview/page')).OverviewPage,
  },
  devices: {
    pattern: /^\/devices\/?$/,
    load: async () => (await import('../pages/devices/page')).DevicesPage,
  },
  // Before the page of a device, whose pattern takes any name.
  add: {
    pattern: /^\/devices\/add\/?$/,
    load: async () => (await import('../pages/add/page')).AddPage,
  },
  device: {
    pattern: /^\/devices\/[^/]+$/,
    load: async () => (await import('../pages/device/page')).DevicePage,
  },
  login: {
    pattern: /^\/login\/?$/,
    load: async () => (await import('../pages/entry/login')).LoginPage,
    open: true,
  },
  setup: {
    pattern: /^\/setup\/?$/,
    load: async () => (await import('../pages/entry/setup')).SetupPage,
    open: true,
  },
  invite: {
    pattern: /^\/invite\/?$/,
    load: async () => (await import('../pages/entry/invite')).InvitePage,
    open: true,
  },
  machine: {
    pattern: /^\/device\/?$/,
    load: async () => (await import('../pages/entry/machine')).MachinePage,
  },
  keys: {
    pattern: /^\/keys\/?$/,
    load: async () => (await import('../pages/keys/page')).KeysPage,
  },
  members: {
    pattern: /^\/members\/?$/,
    load: async () => (await import('../pages/members/page')).MembersPage,
  },
  tokens: {
    pattern: /^\/tokens\/?$/,
    load: async () => (await import('../pages/tokens/page')).TokensPage,
  },
  audit: {
    pattern: /^\/audit\/?$/,
    load: async () => (await import('../pages/audit/page')).AuditPage,
  },
  usage: {
    pattern: /^\/usage\/?$/,
    load: async () => (await import('../pages/usage/page')).UsagePage,
  },
  settings: {
    pattern: /^\/settings\/?$/,
    load: async () => (await import('../pages/settings/page')).SettingsPage,
  },
  deployments: {
    pattern: /^\/deployments\/?$/,
    load: async () => (await import('../pages/deployments/page')).DeploymentsPage,
  },
  repairs: {
    pattern: /^\/repairs\/?$/,
    load: async () => (await import('../pages/repairs/page')).RepairsPage,
  },
  operations: {
    pattern: /^\/operations\/?$/,
    load: async () => (await import('../pages/operations/page')).OperationsPage,
  },
  operation: {
    pattern: /^\/operations\/[^/]+$/,
    load: async () => (await import('../pages/operations/one')).OperationPage,
  },
  models: {
    pattern: /^\/models\/?$/,
    load: async () => (await import('../pages/catalogue/page')).ModelsPage,
  },
  model: {
    pattern: /^\/models\/[^/]+$/,
    load: async () => (await import('../pages/catalogue/one')).ModelPage,
  },
  workspace: {
    pattern: /^\/workspace$/,
    load: async () => (await import('../pages/workspace/page')).WorkspacePage,
    alone: true,
  },
} as const satisfies Record<string, Route>;

export type PageName = keyof typeof ROUTES;

/** Tells whether a page stands alone, for people who are not logged in too. */
export function isOpen(name: PageName | null): boolean {
  return name !== null && (ROUTES[name] as Route).open === true;
}

/** Returns the page of an address; `null` if the address is not one of this application. */
export function pageAt(path: string): PageName | null {
  const names = Object.keys(ROUTES) as PageName[];
  return names.find((name) => ROUTES[name].pattern.test(path)) ?? null;
}

/** Tells whether one address follows another within the page that was loaded: the policy of that page holds for both. */
export function sharesDocument(from: string, to: string): boolean {
  const [here, there] = [pageAt(from), pageAt(to)];
  const standsAlone = (name: PageName | null): boolean => name !== null && (ROUTES as Record<PageName, Route>)[name].alone === true;
  return there !== null && (here === there || !(standsAlone(here) || standsAlone(there)));
}

/** Returns the address of the workspace with a model of a device. */
export function workspaceWith(modelId: string, deviceId: string): string {
  return `/workspace?${new URLSearchParams({ model: modelId, device: deviceId })}`;
}
