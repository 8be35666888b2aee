/**
 * Times of logs and lock files, which another program may have written.
 *
 * @module
 */

/** Formats a time, in milliseconds since the epoch, in ISO 8601; a number that is not the time of a date stays one. */
export function formatTime(time: number): string {
  return isDate(time) ? new Date(time).toISOString() : `time ${time}`;
}

/** Whether a number is the time of a date. */
export function isDate(time: number): boolean {
  return !Number.isNaN(new Date(time).getTime());
}
