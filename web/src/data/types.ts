// The backend's documents under the names that the pages use.

import type { components } from './schema';

type Schemas = components['schemas'];

export type Me = Schemas['Me'];
export type OpenSession = Schemas['OpenSession'];
export type SessionOpened = Schemas['SessionOpened'];
export type PendingDevice = Schemas['PendingDevice'];
export type SessionInfo = Schemas['SessionInfo'];
export type Device = Schemas['Device'];
export type EngineInUse = Schemas['EngineInUse'];
export type SystemSample = Schemas['SystemSample'];
export type Deployment = Schemas['Deployment'];
export type Model = Schemas['Model'];
export type InstallInfo = Schemas['InstallInfo'];
export type Task = Schemas['Task'];
export type Command = Schemas['CommandInfo'];
export type CommandExplanation = Schemas['CommandExplanation'];
export type DeviceLog = Schemas['DeviceLog'];
export type Severity = Schemas['Severity'];
export type Work = Schemas['Work'];
export type Operation = Schemas['Operation'];
export type OperationPlan = Schemas['OperationPlan'];
export type Permission = Schemas['Permission'];
export type Role = Schemas['Role'];
export type Key = Schemas['KeyInfo'];
export type KeyCreated = Schemas['KeyCreated'];
export type CreateKey = Schemas['CreateKey'];
export type Member = Schemas['Member'];
export type MemberRemoved = Schemas['MemberRemoved'];
export type Invitation = Schemas['Invitation'];
export type InvitationCreated = Schemas['InvitationCreated'];
export type Token = Schemas['TokenInfo'];
export type TokenCreated = Schemas['TokenCreated'];
export type AuditEntry = Schemas['Page_AuditEntry']['items'][number];
export type UsagePage = Schemas['Page_Usage'];
export type UsageGroups = Schemas['UsageGroups'];
export type UsageGroup = Schemas['UsageGroup'];
export type UsageFigures = Schemas['UsageFigures'];
export type Allowlist = Schemas['AllowlistSetting'];
export type OperationDevice = Schemas['OperationDevice'];
export type Summary = Schemas['Summary'];
export type KeyInfo = Schemas['KeyInfo'];
export type DeviceMetrics = Schemas['DeviceMetrics'];
export type MetricPoint = Schemas['MetricPoint'];
