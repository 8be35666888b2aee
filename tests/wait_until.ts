/**
 * Polls for conditions that no event reports.
 *
 * @module
 */

/** Options for `waitUntil()`. */
export interface WaitUntilOptions {
  /** Timeout in milliseconds. Default: 20,000. */
  readonly timeoutMs?: number;
  /** Called after each unsuccessful check. Throw to end the wait. */
  readonly check?: () => void;
}

/** Polls `condition` every 2 ms until it returns `true`. Rejects with its source text after the timeout. */
export async function waitUntil(
  condition: () => boolean,
  { timeoutMs = 20_000, check }: WaitUntilOptions = {},
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!condition()) {
    check?.();
    if (performance.now() > deadline) {
      throw new Error(`Not true after ${timeoutMs} ms: ${condition}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
