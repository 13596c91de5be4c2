// Server-sent events out of a stream of text, as the HTML standard describes them.

export interface ServerEvent {
  id: string | null;
  event: string;
  data: string;
}

/** Takes pieces of a stream in any cut, and returns the events that each piece completes. */
export class EventParser {
  #rest = '';
  #id: string | null = null;
  #event = '';
  #data: string[] = [];

  push(piece: string): ServerEvent[] {
    const lines = (this.#rest + piece).split('\n');
    this.#rest = lines.pop() ?? '';
    const found: ServerEvent[] = [];
    for (const line of lines) {
      const event = this.#line(line.endsWith('\r') ? line.slice(0, -1) : line);
      if (event) found.push(event);
    }
    return found;
  }

  #line(line: string): ServerEvent | null {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') this.#data.push(value);
    else if (field === 'event') this.#event = value;
    else if (field === 'id') this.#id = value;
    return null;
  }

  #dispatch(): ServerEvent | null {
    const data = this.#data;
    const event = { id: this.#id, event: this.#event || 'message', data: data.join('\n') };
    this.#data = [];
    this.#event = '';
    return data.length > 0 ? event : null;
  }
}
