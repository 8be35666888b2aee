/**
 * A `fetch` that notices when the event stream of a server is opened again.
 *
 * @module
 */

/**
 * Calls a function each time that the stream of a server's own messages is opened again: those that it sent in between are
 * lost. A stream that continues behind its last event misses none.
 */
export function observeReopening(send: typeof fetch, onReopen: () => void): typeof fetch {
  let wasOpened = false;
  return async (input, init) => {
    const response = await send(input, init);
    if (response.ok && isStreamRequest(init)) {
      if (wasOpened) onReopen();
      wasOpened = true;
    }
    return response;
  };
}

function isStreamRequest({ method, headers }: RequestInit = {}): boolean {
  if (method !== "GET") return false;
  const names = new Headers(headers);
  return /\btext\/event-stream\b/i.test(names.get("accept") ?? "") && !names.has("last-event-id");
}
