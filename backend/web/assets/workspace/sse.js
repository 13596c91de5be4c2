// Server-sent events out of a stream of bytes, as the bytes arrive.

/** Yields the data of each event; lines may be cut anywhere. */
export async function* events(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  let data = [];
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      const lines = (rest + value).split(/\r\n|\n/);
      rest = lines.pop();
      for (const line of lines) {
        if (line === '' && data.length > 0) {
          yield data.join('\n');
          data = [];
        } else if (line.startsWith('data:')) {
          data.push(line.slice(5).replace(/^ /, ''));
        }
      }
    }
    if (rest.startsWith('data:')) data.push(rest.slice(5).replace(/^ /, ''));
    if (data.length > 0) yield data.join('\n');
  } finally {
    reader.cancel().catch(() => {});
  }
}
