// All words of the pages in English, a file for each part of the pages. A further language has the same shape (`language.ts`).

import * as admin from './en/admin';
import * as audit from './en/audit';
import * as causes from './en/causes';
import * as chart from './en/chart';
import * as device from './en/device';
import * as devices from './en/devices';
import * as entry from './en/entry';
import * as keys from './en/keys';
import * as members from './en/members';
import * as settings from './en/settings';
import * as catalogue from './en/catalogue';
import * as manage from './en/manage';
import * as overview from './en/overview';
import * as performance from './en/performance';
import * as pluginSettings from './en/plugin_settings';
import * as purpose from './en/purpose';
import * as shell from './en/shell';
import * as usage from './en/usage';
import * as workspace from './en/workspace';

export const english = {
  product: 'Link',
  ...shell,
  ...devices,
  ...device,
  ...chart,
  ...performance,
  ...pluginSettings,
  ...purpose,
  ...entry,
  ...admin,
  ...keys,
  ...members,
  ...audit,
  ...settings,
  ...usage,
  ...manage,
  ...overview,
  ...catalogue,
  ...causes,
  ...workspace,
} as const;
