// Words for why an answer did not come: a title, what happened, what to do.

interface Words {
  title: string;
  detail: string;
  remedy: string;
}

const notAllowed = 'This page may not use this model yet';

export const causes = {
  originNotListed: (origin: string): Words => ({
    title: notAllowed,
    detail:
      `Neither this account's allowlist nor the backend's defaults have this workspace's origin (${origin}), so this model was ` +
      `deployed without it. The browser's cross-origin preflight was refused.`,
    remedy: 'Put the origin on the allowlist; the model is then repaired in place.',
  }),
  allowlistStale: (origin: string): Words => ({
    title: notAllowed,
    detail:
      `This model was deployed with an allowlist that lacks this workspace's origin ` +
      `(${origin}). The browser's cross-origin preflight was refused.`,
    remedy: 'Repair corrects the allowlist in place and keeps the model loaded. A new deployment corrects it too.',
  }),
  preflightRefused: (where: string, origin: string): Words => ({
    title: 'The browser’s cross-origin preflight was refused',
    detail:
      `Something answers on ${where}, but it does not accept requests from ${origin}, ` +
      `although the backend believes that the model's allowlist has it.`,
    remedy:
      'Repair sends the allowlist again. If that does not help, another program may answer on this port, ' +
      'or the device is not the computer that this page is open on.',
  }),
  insecureContext: (where: string, origin: string): Words => ({
    title: 'This page was opened without https',
    detail: `Browsers let only pages of secure origins reach ${where}; ${origin} is not one.`,
    remedy: 'Open the workspace with https, or as http://localhost on the device itself.',
  }),
  localNetworkDenied: (origin: string): Words => ({
    title: 'The browser denies this page access to this computer',
    detail:
      `The permission to reach devices on the local network is denied for ${origin}, so the ` +
      `request never left the browser.`,
    remedy:
      'Allow “Local network access” in the site settings (the icon beside the address), then try again. ' +
      'In a managed browser, the policy LoopbackNetworkAllowedForUrls can allow it.',
  }),
  mixedContent: (where: string): Words => ({
    title: 'The browser blocks the request as mixed content',
    detail:
      `This page came over https, and this browser lets such a page make no http request, not even to ` +
      `${where} of the same computer.`,
    remedy:
      'Use a browser that allows requests to the local computer (Chrome, Edge or Firefox), or open the ' +
      'workspace as http://localhost on the device.',
  }),
  localNetworkUndecided: (): Words => ({
    title: 'The browser needs your permission',
    detail: 'This page needs the permission to reach devices on the local network, and it is not given yet.',
    remedy: 'Try again and choose “Allow” when the browser asks.',
  }),
  backendUnreachable: (where: string): Words => ({
    title: 'Neither the model nor the backend answers',
    detail: `Nothing answers on ${where}, and the backend cannot be asked why.`,
    remedy: 'Check the network connection of this computer and that the backend runs.',
  }),
  nothingAnswers: (where: string, device: string): Words => ({
    title: 'Nothing answers on this computer',
    detail:
      `Nothing answers on ${where} of the computer that this page is open on, although ` +
      `${device} is online and serves the model.`,
    remedy:
      `Open the workspace on ${device} itself. If this is ${device}, a firewall or a browser ` +
      'extension may block the request, or the agent has just stopped: look at `link status`.',
  }),
  otherDevice: (where: string, device: string, other: string | null): Words => ({
    title: 'Another device answered',
    detail:
      `${other ?? 'A device that is not in this account'} answers on ${where}, not ${device}: this page asks the computer that ` +
      'it is open on. What was sent went there; the answer was dropped.',
    remedy: `Open the workspace on ${device} itself, or choose a model on this computer.`,
  }),
  engineUnavailable: (model: string): Words => ({
    title: 'The engine does not answer',
    detail: `The device received the request, but the engine of ${model} does not answer.`,
    remedy:
      'Wait a moment and try again: the agent restarts an engine that has died. If it stays so, look at ' +
      '`link status` on the device.',
  }),
  brokenOff: (where: string): Words => ({
    title: 'The answer broke off',
    detail: `The connection to ${where} ended before the answer did.`,
    remedy: 'Try again. If it happens again, look at `link logs --local` on the device.',
  }),
  requestTooLarge: (most: number, size: number | null): Words => ({
    title: 'The request is larger than the device accepts',
    detail: `A request may have at most ${most}\u00a0MB.${size === null ? '' : ` This one has ${(size / 1e6).toFixed(1)}\u00a0MB.`}`,
    remedy: 'Shorten the message, or start a new conversation.',
  }),
  contextExceeded: (model: string, tokens: number | null, context: number | null): Words => ({
    title: 'The conversation is longer than the model can read',
    detail:
      tokens && context
        ? `The conversation has ${tokens.toLocaleString('en')} tokens; ${model} was started with room for ${context.toLocaleString('en')}.`
        : `The conversation has more tokens than ${model} was started with room for.`,
    remedy: 'Start a new conversation, or shorten the message.',
  }),
  engineLoading: (model: string, device: string, seconds: number | null): Words => ({
    title: 'The model is being loaded',
    detail: `${device} is loading ${model} into memory.`,
    remedy: `Try again ${seconds ? `in ${seconds} seconds` : 'in a few seconds'}.`,
  }),
  notServing: (model: string, device: string, why: string | null, offline: boolean): Words => ({
    title: 'The model is not being served',
    detail: `${model} is not served on ${device}.${why ? ` The device says: ${why}` : ''}`,
    remedy: offline ? 'It can be served when the device is online again.' : 'Serve it, then try again.',
  }),
  notForChat: (model: string, said: string | null): Words => ({
    title: 'This model cannot answer this request',
    detail: `${model} does not serve such requests on its port.${said ? ` The device says: ${said}` : ''}`,
    remedy: 'Choose a model that chats, or send this model the requests that it serves.',
  }),
  portMoved: (model: string, device: string, port: number, before: number): Words => ({
    title: 'The model moved to another port',
    detail: `${model} is served on port ${port} of ${device}, no longer on ${before}.`,
    remedy: 'Try again; the new port is used.',
  }),
  deviceOffline: (device: string, updating: boolean): Words => ({
    title: 'The device is offline',
    detail: updating
      ? `${device} was being updated, and the backend has not heard from it since.`
      : `The backend has not heard from ${device}.`,
    remedy: 'If it is switched on and connected, run `link start` on it; `link doctor` finds what else is wrong.',
  }),
  engineError: (byEngine: boolean, detail: string | null, status: number | null, hint: string | null): Words => ({
    title: byEngine ? 'The engine reported an error' : 'The device refused the request',
    detail: `${detail ?? 'No details were given'}${status ? ` (status ${status})` : ''}`,
    remedy: hint ?? 'Try again. If it happens again, look at `link logs --local` on the device.',
  }),
  whenOnline: (remedy: string) => `${remedy} This is possible when the device is online again.`,
} as const;
