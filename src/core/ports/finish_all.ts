/**
 * Waits for promises that belong together.
 *
 * @module
 */

/**
 * Resolves with the values of promises. If one of them rejects, waits for the others before it rejects as well, so that nothing
 * continues after a failure or a cancellation.
 */
export async function finishAll<const Values extends readonly unknown[]>(
  promises: Values,
): Promise<{ -readonly [Index in keyof Values]: Awaited<Values[Index]> }> {
  await Promise.allSettled(promises);
  return await Promise.all(promises);
}
