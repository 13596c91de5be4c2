// Requests to the backend. Every refusal becomes a `Problem` with the backend's own words.

import { csrf } from './csrf.js';

const PREFIX = '/api/v1';

/** The backend refused a request: its problem document. */
export class Problem extends Error {
  constructor(status, document) {
    super(document.detail || document.title || `The backend answered with status ${status}.`);
    this.status = status;
    this.code = document.code ?? null;
    this.title = document.title ?? null;
    this.hint = document.hint ?? null;
    this.requestId = document.request_id ?? null;
  }
}

/** The backend did not answer. */
export class Unreachable extends Error {
  constructor(cause) {
    super('The backend does not answer. Check that it is running and reachable.', { cause });
  }
}

/** Sends one request and returns the answer's JSON, or null when it has none. */
export async function send(method, path, { body, headers = {}, signal } = {}) {
  const all = { accept: 'application/json', 'x-link-csrf': csrf(), ...headers };
  if (body !== undefined) all['content-type'] = 'application/json';
  let response;
  try {
    response = await fetch(PREFIX + path, {
      method,
      headers: all,
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: 'no-store',
      signal,
    });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Unreachable(error);
  }
  return answer(response.status, await response.text());
}

/** Uploads a file and tells `progress` which share of it has left, from 0 to 1. */
export function upload(path, file, { progress }) {
  return new Promise((resolve, reject) => {
    // Only XMLHttpRequest says how much of a body has left.
    const request = new XMLHttpRequest();
    request.open('PUT', PREFIX + path);
    request.setRequestHeader('x-link-csrf', csrf());
    request.setRequestHeader('content-type', 'application/octet-stream');
    request.upload.addEventListener('progress', (event) => {
      if (event.lengthComputable) progress(event.loaded / event.total);
    });
    request.addEventListener('error', () => reject(new Unreachable()));
    request.addEventListener('load', () => {
      try {
        resolve(answer(request.status, request.responseText));
      } catch (problem) {
        reject(problem);
      }
    });
    request.send(file);
  });
}

function answer(status, text) {
  const document = parse(text);
  if (status >= 200 && status < 300) return document;
  throw new Problem(status, document ?? {});
}

function parse(text) {
  try {
    return text === '' ? null : JSON.parse(text);
  } catch {
    return null;
  }
}
