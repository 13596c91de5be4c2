// The secret of this origin, which every request carries in a header. The login itself is a cookie that no script can read.

const STORED = 'link.csrf';
/** Takes the place of the storage where a browser forbids it. */
let held = null;

/** Returns the value of the header. Over https any value does. */
export function csrf() {
  return stored() ?? '1';
}

/** Tells whether somebody has logged in with this browser. */
export function stored() {
  try {
    return localStorage.getItem(STORED) ?? held;
  } catch {
    return held;
  }
}

/** Keeps the secret of a login; null forgets it. */
export function store(secret) {
  held = secret;
  try {
    if (secret === null) localStorage.removeItem(STORED);
    else localStorage.setItem(STORED, secret);
  } catch {
    // The login is of this tab alone.
  }
}
