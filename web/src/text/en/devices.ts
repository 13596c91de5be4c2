// Words of the list of devices and of the actions on many of them.

import { plural } from './plural';

export const selection = {
  tooMany: (most: number) => `A selection has at most ${most} terms.`,
  notATerm: (written: string) => `“${written}” is not a filter. A filter is a term such as tag=lab, version<1.3.0, state=online, update=rolled_back or disk>=90.`,
  notAVersion: 'The version must be a semantic version, such as 1.3.0.',
  notAState: 'The state must be online, offline or updating.',
  notAnEnd: 'The end of the last update must be committed or rolled_back.',
  notAShare: 'The used share of the disk must be 0 to 100 percent.',
  onlyVersionsCompare: 'Only versions and the share of the disk can be compared with < and >.',
  noTag: 'The tag is missing, or has a comma.',
} as const;

export const state = {
  online: 'Online',
  offline: 'Offline',
  offlineUpdating: 'Offline, was updating',
  updating: 'Updating…',
  offlineSince: (when: string) => `Offline since ${when}`,
  neverSeen: 'Never seen',
} as const;

export const time = { never: 'never', now: 'just now' } as const;

export const devices = {
  title: 'Devices',
  count: (count: number) => plural(count, 'device', 'devices'),
  countOf: (shown: number, all: number) => `${shown.toLocaleString('en')} of ${plural(all, 'device', 'devices')}`,
  search: 'Search name, id, host or tag',
  filters: 'Filters',
  filter: 'Add a filter',
  filterTerm: 'Term of a filter',
  filterHint: 'tag=lab or version<1.3.0',
  filterAdd: 'Add',
  filterState: 'State',
  filterVersion: 'Version',
  filterTag: 'Tag',
  removeFilter: (term: string) => `Remove the filter ${term}`,
  clear: 'Clear all',
  columns: {
    name: 'Name',
    state: 'State',
    version: 'Version',
    platform: 'Platform',
    models: 'Models',
    cpu: 'CPU',
    memory: 'Memory',
    disk: 'Disk',
    tags: 'Tags',
    seen: 'Last seen',
  },
  columnsMenu: 'Columns',
  columnsShown: 'Shown columns',
  noRoom: 'In a window of this width, the platform is shown once the state, the version, the models or the tags are hidden.',
  csvColumns: [
    'id', 'name', 'state', 'version', 'os', 'arch', 'hostname', 'models', 'cpu_percent',
    'memory_used_bytes', 'memory_total_bytes', 'disk_free_bytes', 'disk_total_bytes', 'tags', 'last_seen_at',
  ],
  sortBy: (column: string) => `Sort by ${column}`,
  table: 'Devices',
  select: (name: string) => `Select ${name}`,
  selectAll: (count: number) => `Select all ${plural(count, 'device', 'devices')} that match`,
  selected: (count: number) => `${count.toLocaleString('en')} selected`,
  unselect: 'Clear selection',
  stale: (count: number) => `${count} stale`,
  staleTitle: (count: number) =>
    `${plural(count, 'model has', 'models have')} an allowlist that lacks an origin`,
  more: (count: number) => `+${count}`,
  models: (count: number) => plural(count, 'model', 'models'),
  nothingTitle: 'No device yet',
  nothing: 'A device appears here by itself as soon as it registers. One line in a terminal of the device is enough.',
  nothingAction: 'Add a device',
  noMatchTitle: 'No device matches',
  noMatch: 'No device matches the search and the filters.',
  failedTitle: 'The devices could not be loaded',
  channels: { alpha: 'Alpha', beta: 'Beta' },
  rolledBack: 'Rolled back',
  from: (version: string) => `from ${version}`,
  updatedFrom: (version: string) => `Updated from ${version}`,
} as const;

export const views = {
  menu: 'Views',
  saved: 'Saved views',
  none: 'No view is saved yet.',
  name: 'Name of this view',
  save: 'Save',
  drop: (name: string) => `Delete the view ${name}`,
  where: 'A view keeps the search, the filters, the order and the columns, in this browser.',
  refused: 'The view was not saved: this browser keeps no more data of this page.',
} as const;

export const retire = {
  title: 'Retire a device with its code',
  open: 'Retire a device with its code…',
  short: 'Retire…',
  why: 'A device that was uninstalled while the backend was unreachable still has its place in the account. The code removes the device and frees the place.',
  code: 'Retire code',
  hint: 'The code that `link uninstall --force` printed. It starts with lrc_.',
  run: 'Remove the device',
  done: 'The device is retired, and its slot is free.',
} as const;

export const bulk = {
  bar: 'Actions for the selected devices',
  tag: 'Add tags…',
  untag: 'Remove tags…',
  update: 'Update…',
  updateRun: 'Update',
  titles: { tag: 'Add tags', untag: 'Remove tags', update: 'Update agents' },
  tags: 'Tags',
  tagsHint: 'Several tags are separated by commas.',
  version: 'Version',
  release: (version: string) => `The release of this backend is ${version}.`,
  versionHint: 'A version of the releases of this backend, such as 1.3.0.',
  preview: 'Preview',
  previewing: 'Previewing…',
  touched: (count: number) => `This touches ${plural(count, 'device', 'devices')}:`,
  andMore: (count: number) => `and ${count.toLocaleString('en')} more`,
  offline: 'offline',
  run: (count: number) => `Apply to ${plural(count, 'device', 'devices')}`,
  cancel: 'Cancel',
  started: (count: number) => `Started for ${plural(count, 'device', 'devices')}.`,
  ended: (succeeded: number, failed: number, skipped: number) =>
    [
      `${plural(succeeded, 'device', 'devices')} done`,
      failed > 0 ? `${failed.toLocaleString('en')} failed` : '',
      skipped > 0 ? `${skipped.toLocaleString('en')} skipped` : '',
    ]
      .filter(Boolean)
      .join(', ') + '.',
  none: 'The selected devices are gone.',
  refused: 'Your role can read devices but not change them.',
} as const;
