/**
 * Classes of values of any origin.
 *
 * @module
 */

/** Whether a value is an instance of a class; never throws, also for a proxy that does. */
export function isInstance<Instance>(
  value: unknown,
  type: abstract new (...input: never[]) => Instance,
): value is Instance {
  try {
    return value instanceof type;
  } catch {
    return false;
  }
}
