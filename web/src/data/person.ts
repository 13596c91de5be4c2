// What belongs to the person at this page. Whatever outlives a page, such as a draft, a list or an upload, is registered
// here and forgotten when the person leaves or another one comes. Work that is under way for the person ends with
// `PersonLeft`, so that nothing of it is shown to, or done in the name of, the next person.

/** The person for whom something was done has logged out, or is another one. */
export class PersonLeft extends Error {}

const registered = new Set<() => void>();
let presence = new AbortController();

/** Registers how something of the person is forgotten. */
export function ofPerson(forget: () => void): void {
  registered.add(forget);
}

/** Returns a signal that is aborted with `PersonLeft` when the present person leaves. */
export function staying(): AbortSignal {
  return presence.signal;
}

/** Ends and forgets everything of the present person. */
export function forgetPerson(): void {
  const left = presence;
  presence = new AbortController();
  left.abort(new PersonLeft());
  for (const forget of registered) forget();
}

/** Waits, and fails if the person leaves meanwhile. */
export async function pause(milliseconds: number): Promise<void> {
  const here = staying();
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  here.throwIfAborted();
}
