// An account in which everything that others may write is written by somebody hostile: names, tags, hosts, versions, log lines,
// outputs, reasons. Ids, times and states are the backend's own and stay.

/** Words that try to be markup or a link, to imitate a control, to turn the line round, to be endless, or to hide. */
export const WORDS: readonly string[] = [
  '<img src=x onerror="document.documentElement.dataset.owned=1">',
  '"><script>document.documentElement.dataset.owned=1</script>',
  '<button class="button danger">Remove all devices</button>',
  'javascript:document.documentElement.dataset.owned=1',
  '\u202egnp.evil\u202c',
  'zero\u200b\u200dwidth\ufeff',
  'x'.repeat(10_000),
  'word '.repeat(2_000),
  'nul\u0000byte',
  'line\nbreak\r\nand next',
  '\ud800 lone',
  '{{constructor.constructor("return 1")()}}',
];

/** Returns a problem document whose words are all of the hostile ones. */
export function hostileProblem(problem: object): object {
  const words = WORDS.join(' ');
  return { ...problem, title: words, detail: words, hint: words };
}

/** Returns a query whose every value is hostile, as in a link that somebody has sent. Words that no address can have are left out. */
export function hostileQuery(...names: readonly string[]): string {
  const words = WORDS.filter((one) => one.length < 500 && one.isWellFormed());
  return names.map((name, at) => `${name}=${encodeURIComponent(words[at % words.length] ?? '')}%2C${encodeURIComponent(words.join(' '))}`).join('&');
}

/** A time: `from` is the begin of a period, or the version before an update. */
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** The members whose texts others choose. */
const THEIRS: ReadonlySet<string> = new Set([
  'name', 'device_name', 'model_name', 'alias', 'hostname', 'os', 'arch', 'agent_version', 'from', 'tags', 'file_name', 'url', 'publisher',
  'message', 'category', 'detail', 'output', 'reason', 'why', 'happened', 'next', 'email', 'agent', 'address', 'select', 'version',
  'architecture', 'quantization', 'engine', 'build', 'account_name', 'client_name', 'note',
]);

/** Returns the document with hostile words, each time the same ones. */
export function hostile(document: unknown): unknown {
  let at = 0;
  const replaced = (value: unknown, theirs: boolean): unknown => {
    if (typeof value === 'string') {
      at += 1;
      return theirs && !TIME.test(value) ? WORDS[at % WORDS.length] : value;
    }
    if (Array.isArray(value)) return value.map((one) => replaced(one, theirs));
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, replaced(one, THEIRS.has(name))]));
  };
  return replaced(document, false);
}
