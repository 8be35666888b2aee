/**
 * Events as server-sent events.
 *
 * @module
 */

import type { Sleep } from "../../core/ports/ports.ts";

/** Options for `encodeEvents()`. */
export interface EncodeOptions {
  /** Milliseconds without an event after which a comment is sent; 0 for none. */
  readonly keepAliveMs: number;
  /** Waits for that time. */
  readonly sleep: Sleep;
  /** Data that follows the last event. Default: none. */
  readonly end?: string;
}

const encoder = new TextEncoder();

/**
 * Encodes events as server-sent events. Cancelling the result waits until the run is aborted. An event that cannot be
 * written as JSON aborts it, too.
 */
export function encodeEvents(
  events: ReadableStream<object>,
  { keepAliveMs, sleep, end }: EncodeOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = events.getReader();
  /** The next event, which an earlier pull may have waited for. */
  let next: Promise<ReadableStreamReadResult<object>> | undefined;
  let wait = new AbortController();
  return new ReadableStream({
    async pull(controller) {
      next ??= reader.read();
      wait = new AbortController();
      const idle = sleep(keepAliveMs || Infinity, wait.signal).then(() => undefined);
      try {
        const read = await Promise.race([next, idle]);
        if (!read) return controller.enqueue(encoder.encode(": no event yet\n\n"));
        next = undefined;
        if (read.done) {
          if (end !== undefined) controller.enqueue(encoder.encode(`data: ${end}\n\n`));
          return controller.close();
        }
        controller.enqueue(encoder.encode(`data: ${JSON.stringify(read.value)}\n\n`));
      } catch (thrown) {
        await reader.cancel(thrown).catch(() => {});
        throw thrown;
      } finally {
        wait.abort();
      }
    },
    async cancel(reason) {
      wait.abort();
      await reader.cancel(reason);
    },
  });
}
