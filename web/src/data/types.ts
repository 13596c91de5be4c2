// The backend's documents under the names that the pages use.

import type { components } from './schema';

type Schemas = components['schemas'];

export type Tokens = Schemas['TokenResponse'];
export type Me = Schemas['Me'];
export type Device = Schemas['Device'];
export type SystemSample = Schemas['SystemSample'];
export type Deployment = Schemas['Deployment'];
export type Model = Schemas['Model'];
export type Command = Schemas['CommandInfo'];
export type CommandExplanation = Schemas['CommandExplanation'];
export type DeviceLog = Schemas['DeviceLog'];
export type Severity = Schemas['Severity'];
export type Work = Schemas['Work'];
export type Operation = Schemas['Operation'];
export type OperationPlan = Schemas['OperationPlan'];
