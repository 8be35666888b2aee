/**
 * A `fetch` that returns scripted replies.
 *
 * @module
 */

import { createAnthropicFrames, type ScriptedReply } from "./anthropic_frames.ts";

/** Delays of scripted replies. */
export interface ScriptedFetchOptions {
  /** Milliseconds before each frame after the first. */
  readonly frameMs: number;
  /** Milliseconds before the first frame of a reply. */
  readonly thinkMs: number;
}

/** Creates a `fetch` that answers each request with the next reply, without a network. */
export function createScriptedFetch(
  replies: readonly ScriptedReply[],
  { frameMs, thinkMs }: ScriptedFetchOptions,
): typeof fetch {
  let requestCount = 0;
  return (_input, init) => {
    const reply = replies[requestCount++];
    if (!reply) return Promise.reject(new TypeError("The script has no reply for this request"));
    const frames = createAnthropicFrames(reply, requestCount);
    const body = createBody(
      frames,
      { frameMs, thinkMs },
      init?.signal ?? new AbortController().signal,
    );
    return Promise.resolve(
      new Response(body, { headers: { "content-type": "text/event-stream" } }),
    );
  };
}

function createBody(
  frames: readonly string[],
  { frameMs, thinkMs }: ScriptedFetchOptions,
  signal: AbortSignal,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let next = 0;
  return new ReadableStream({
    async pull(controller) {
      const frame = frames[next];
      if (frame === undefined) return controller.close();
      await delay(next === 0 ? thinkMs : frameMs, signal);
      if (signal.aborted) return controller.error(signal.reason);
      next++;
      controller.enqueue(new TextEncoder().encode(frame));
    },
  }, { highWaterMark: 0 });
}

function delay(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (milliseconds === 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, milliseconds);
    signal.addEventListener("abort", finish);
  });
}
