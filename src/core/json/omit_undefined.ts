/**
 * Options without those that are not set.
 *
 * @module
 */

/** Returns an object without the properties that are `undefined`, so that they replace no others. */
export function omitUndefined<Options extends object>(options: Options): Options {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Options;
}
