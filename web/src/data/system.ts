// The operating system of the reader, for lines that are pasted into a terminal. Pure but for `reader`.

export const SYSTEMS = ['linux', 'macos', 'windows'] as const;
export type System = (typeof SYSTEMS)[number];
/** What reads a line. */
export type Shell = 'sh' | 'powershell';

/** Returns the system that a browser names; phones and what is not known count as Linux. */
export function systemOf(platform: string): System {
  if (/^win/i.test(platform)) return 'windows';
  return /^mac/i.test(platform) ? 'macos' : 'linux';
}

export function shellOf(system: System): Shell {
  return system === 'windows' ? 'powershell' : 'sh';
}

/** Returns the system that this page is read on. */
export function reader(): System {
  const { userAgentData } = navigator as Navigator & { userAgentData?: { platform?: string } };
  return systemOf(userAgentData?.platform || navigator.platform || '');
}

/** Returns the systems with the reader's own first. */
export function ownFirst(own: System = reader()): System[] {
  return [own, ...SYSTEMS.filter((one) => one !== own)];
}
