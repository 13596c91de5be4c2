// Words of every chart.

export const chart = {
  numbersOf: (title: string) => `Numbers: ${title}`,
  begins: 'Begins',
  valuesOf: (title: string) => `Values over time: ${title}`,
  at: (time: string, unit: string | undefined) => (unit === undefined ? time : `${time} · ${unit}`),
  spoken: (time: string, unit: string | undefined, values: string) => (unit === undefined ? `${time}: ${values}` : `${time}, in ${unit}: ${values}`),
  value: (name: string, words: string) => `${name} ${words}`,
  range: (low: string, high: string) => `${low} to ${high}`,
  none: 'no value',
} as const;
