// Words of every chart.

export const chart = {
  numbersOf: (title: string) => `Numbers: ${title}`,
  begins: 'Begins',
  valuesOf: (title: string) => `Values over time: ${title}`,
  value: (name: string, words: string) => `${name} ${words}`,
  range: (low: string, high: string) => `${low} to ${high}`,
  none: 'no value',
} as const;
