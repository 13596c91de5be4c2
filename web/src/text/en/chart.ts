// Words of every chart.

export const chart = {
  numbersOf: (title: string) => `Numbers: ${title}`,
  begins: 'Begins',
} as const;
