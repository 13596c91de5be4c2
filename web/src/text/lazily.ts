// What is costly to make, and not needed on most pages: made when it is used first. A formatter of `Intl` takes as long as
// drawing a table.

export function lazily<T>(make: () => T): () => T {
  let made: T | null = null;
  return () => (made ??= make());
}
