// The code of each page, loaded when its address is reached.

import type { ComponentType } from 'preact';

import type { PageName } from '../ui/addresses';

export const LOADS: Readonly<Record<PageName, () => Promise<ComponentType>>> = {
  overview: async () => (await import('../pages/overview/page')).OverviewPage,
  devices: async () => (await import('../pages/devices/page')).DevicesPage,
  add: async () => (await import('../pages/add/page')).AddPage,
  device: async () => (await import('../pages/device/page')).DevicePage,
  login: async () => (await import('../pages/entry/login')).LoginPage,
  setup: async () => (await import('../pages/entry/setup')).SetupPage,
  invite: async () => (await import('../pages/entry/invite')).InvitePage,
  machine: async () => (await import('../pages/entry/machine')).MachinePage,
  keys: async () => (await import('../pages/keys/page')).KeysPage,
  members: async () => (await import('../pages/members/page')).MembersPage,
  tokens: async () => (await import('../pages/tokens/page')).TokensPage,
  audit: async () => (await import('../pages/audit/page')).AuditPage,
  usage: async () => (await import('../pages/usage/page')).UsagePage,
  settings: async () => (await import('../pages/settings/page')).SettingsPage,
  deployments: async () => (await import('../pages/deployments/page')).DeploymentsPage,
  repairs: async () => (await import('../pages/repairs/page')).RepairsPage,
  operations: async () => (await import('../pages/operations/page')).OperationsPage,
  operation: async () => (await import('../pages/operations/one')).OperationPage,
  models: async () => (await import('../pages/catalogue/page')).ModelsPage,
  model: async () => (await import('../pages/catalogue/one')).ModelPage,
  workspace: async () => (await import('../pages/workspace/page')).WorkspacePage,
};
