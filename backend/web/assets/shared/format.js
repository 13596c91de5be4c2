// Numbers, times and sentences as people read them.

const AGO = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/** Returns how long ago a time was, such as `2 minutes ago`. */
export function ago(time, now = Date.now()) {
  if (!time) return 'never';
  const seconds = Math.round((now - Date.parse(time)) / 1000);
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length) return AGO.format(-Math.round(seconds / length), unit);
  }
  return 'just now';
}

/** Returns a time in the reader's own form. */
export function moment(time) {
  return time ? new Date(time).toLocaleString() : '';
}

/** Returns a number of bytes with its unit, such as `1.4 GB`. */
export function bytes(count) {
  if (count === null || count === undefined) return '';
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = count;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** Makes a sentence of a fragment: a capital letter, and a full stop unless it ends with one. */
export function sentence(text) {
  const words = text.trim();
  const begun = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

/** What a person calls a model: another account's with its publisher. */
export function modelName(model) {
  return model.owned ? model.name : `${model.publisher}/${model.name}`;
}
