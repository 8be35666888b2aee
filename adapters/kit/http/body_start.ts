/**
 * Start of a response body.
 *
 * @module
 */

/** A body whose first character is known. */
export interface StartedBody {
  /** The body, without white space at its start. */
  readonly body: ReadableStream<Uint8Array>;
  /** Whether the first character other than white space begins a JSON object or array. */
  readonly startsWithJson: boolean;
}

/** Reads the start of a body, up to the first character that is not white space. */
export async function skipToText(
  body: ReadableStream<Uint8Array> | null,
): Promise<StartedBody> {
  const reader = (body ?? new Blob().stream()).getReader();
  let start: Uint8Array | undefined;
  let first: string | undefined;
  do {
    start = (await reader.read()).value;
    first = /\S/.exec(new TextDecoder().decode(start))?.[0];
  } while (start !== undefined && first === undefined);
  return {
    body: new ReadableStream({
      async pull(controller): Promise<void> {
        const chunk = start ?? (await reader.read()).value;
        start = undefined;
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
      cancel: (reason) => reader.cancel(reason),
    }, { highWaterMark: 0 }),
    startsWithJson: first === "{" || first === "[",
  };
}
