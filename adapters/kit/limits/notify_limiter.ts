/**
 * Reports to rate limiters.
 *
 * @module
 */

/**
 * Calls a method of a limiter that returns nothing. Errors are ignored, also those of a promise: a limiter of several
 * processes may have lost its connection, which must end neither the reply nor the process.
 */
export async function notifyLimiter(report: () => unknown): Promise<void> {
  try {
    await report();
  } catch {
    // The limiter knows less than it could.
  }
}
