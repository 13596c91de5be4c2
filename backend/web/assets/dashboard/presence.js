// Whether a device is there. One that ended in the middle of an update still says that it updates:
// once nothing is heard from it, it is offline like any other.

/** Tells whether `device` is replacing its agent right now. */
export function isUpdating({ online, status }) {
  return online && status === 'updating';
}
