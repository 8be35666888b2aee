/**
 * Waits for a condition that no event announces.
 *
 * @module
 */

/** Options for `waitUntil()`. */
export interface WaitUntilOptions {
  /** Longest wait, in milliseconds. Default: 20,000. */
  readonly timeoutMs?: number;
  /** Ends the wait early by throwing. Called before each check. */
  readonly check?: () => void;
}

/** Polls `condition` until it holds; rejects with its source text when the time is up. */
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
