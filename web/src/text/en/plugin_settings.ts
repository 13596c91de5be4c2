// Words for the settings of plugins.

export const pluginSettings = {
  title: 'Settings of the plugin',
  name: { threads: 'Threads', context: 'Context', language: 'Language', beam_size: 'Beam size' } as Readonly<Record<string, string>>,
  hint: {
    threads: 'How many threads compute. Empty: the engine chooses.',
    context: 'How many tokens a conversation may have. More need more memory.',
    language: 'The spoken language, unless a request names one. auto detects it.',
    beam_size: 'How many hypotheses the search keeps. Empty: the engine takes the likeliest word each time.',
  } as Readonly<Record<string, string>>,
  bounds: (least: string, most: string) => `${least} to ${most}.`,
  usual: (value: string) => `${value}, unless the device is set up otherwise`,
  unset: 'Not set',
  on: 'On',
  off: 'Off',
  fault: {
    number: (least: string, most: string) => `Type a whole number from ${least} to ${most}.`,
    choice: 'Choose one of the values.',
    form: 'Type NAME=VALUE in each line: a name of a to z, 0 to 9 and _, and a number, true, false or a word.',
    twice: 'Give each setting once.',
    overtaken: (value: string) =>
      `${value === '' ? 'Somebody has since emptied this.' : `Somebody has since changed this to ${value}.`} Press the button again to replace it.`,
  },
  others: 'Other settings',
  othersHint: 'One NAME=VALUE in each line. `link plugin show` on the device lists what the plugin takes.',
  keep: 'Empty fields keep what the last deployment has, unless another field has a value: then these values replace all of them.',
  now: 'These are the settings of the deployment. Only a change is sent.',
  fresh: 'An empty field keeps the default. The device checks the values before it downloads anything.',
  drop: 'Drop the settings of the last deployments',
  of: (name: string) => `Settings of ${name}`,
  button: 'Settings…',
  run: 'Redeploy with these settings',
} as const;
